"""Sessions that are the same as another by construction, which are no further evidence.

A setting without effect on the models of a study, such as the words a citizen is asked for, gives
the same session again at each of its levels. To count each would make every error too small.
"""

import pandas as pd

MEASURED = ("_pre", "_post", "_change")


def without_copies(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The sessions without copies, and a sentence on how many there were, or none.

    A copy is a session of a condition that is the same as another (`equal_to`), under the same
    treatment and of the same replicate, with the same value of every measure. Sessions of such
    conditions that gave other values are kept: they are draws of their own.
    """
    if "equal_to" not in rows.columns or not rows["equal_to"].notna().any():
        return rows, []
    measures = [str(name) for name in rows.columns if str(name).endswith(MEASURED)]
    plain = rows.reset_index(drop=True)
    same, later = plain["equal_to"].fillna(plain["cell"]), plain["equal_to"].notna()
    named = plain[["treatment", "replicate", "cell", *measures]].assign(same=same, later=later)
    ordered = named.sort_values(["later", "cell"], kind="stable")
    copy = ordered.duplicated(["treatment", "replicate", "same", *measures]).sort_index()
    copy &= plain[measures].notna().any(axis=1) & plain["replicate"].notna()
    if not copy.any():
        return rows, []
    count = int(copy.sum())
    what = "1 session is" if count == 1 else f"{count} sessions are"
    note = (
        f"{what} the same as another by construction, because the settings in which they differ"
        " have no effect on their models; each is counted once."
    )
    return rows[~copy.to_numpy()], [note]
