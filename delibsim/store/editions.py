"""Editions: the presets, wordings and motions of earlier versions, which studies begun under them
keep.
"""

from pathlib import Path

NOW = "0.3"
"""The edition of studies that begin now: the presets of the package as they stand."""
FIRST = "0.1"
"""The edition of studies whose file names none."""
EDITIONS = (FIRST, "0.2", NOW)
UNSAID = {"instructions": "everywhere", "background": True, "words": None}
"""How a session of the first edition was held: its procedure had no such settings."""


LATER = {
    FIRST: {
        "experiment": ("main_grid_offline",),
        "procedure": ("published",),
        "wording": (
            "oxford_evaluative",
            "published",
            "coding",
            "coding_a",
            "coding_b",
            "compare",
            "summary",
            "summary_parts",
            "verdict",
        ),
        "group": ("dqi_study",),
        "model": (
            "claude_haiku_4_5",
            "claude_sonnet_4_6",
            "llama_3_3_70b",
            "qwen_2_5_72b",
            "citizen_alike",
            "citizen_apart",
            "citizen_complex",
            "citizen_exact",
            "citizen_noisy",
            "citizen_simple",
            "citizen_still",
            "citizen_swayed",
        ),
        "topics": ("ai_art_harm", "dating_apps_love", "remote_work_right"),
    },
    "0.2": {"wording": ("published",)},
}
"""The presets that came after an edition, by group: its studies do not have them."""


def edition_folder(edition: str, kind: str) -> Path:
    """The folder with what an edition had otherwise (kind: conf, topics); it need not exist.

    A file that did not change since is read from its present place.
    """
    return Path(__file__).parents[1] / "data" / "editions" / edition / kind
