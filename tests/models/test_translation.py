"""What a language model may reply when it is asked to translate."""

import pytest

from delibsim.prompts.prompt import UnreadableReply
from delibsim.prompts.translation import Rendering

SAID = "I think we need more buses, because they are quiet and cheap."


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        (SAID, "Ich denke, wir brauchen mehr Busse, weil sie leise und billig sind."),
        ("Berlin!", "Berlin!"),
        ("Yes.", "Ja."),
        ("Das ist nicht schlecht.", "Das ist nicht schlecht."),
        ("Who can translate that for me?", "Wer kann mir das übersetzen?"),
        ("I cannot help you.", "Ich kann dir nicht helfen."),
        ("Here is my proposal: we need buses.", "Hier ist mein Vorschlag: Wir brauchen Busse."),
    ],
)
def test_a_translation_is_taken(text, reply):
    assert Rendering(text).read(f" {reply}\n") == reply


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("", "empty"),
        ("I'm sorry, but I can't help with that.", "not German"),
        (SAID, "not German"),
        ("Je pense que nous avons besoin de bus.", "not German"),
        (
            (
                f"„{SAID}“: Ich denke, wir brauchen mehr Busse, weil sie leise und nicht zu teuer"
                " sind, und das ist auch für mich gut."
            ),
            "repeats",
        ),
        ("Es tut mir leid, ich kann das nicht übersetzen.", "speaks of the translation"),
        ("Leider kann ich dir dabei nicht helfen.", "speaks of not being able to help"),
        ("Als Sprachmodell habe ich dazu keine Meinung.", "being a language model"),
        ("Hier ist der Text: Ich denke, wir brauchen mehr Busse.", "words of its own"),
        ("Gerne! Auf Deutsch lautet er: Wir brauchen mehr Busse.", "words of its own"),
        ("Ich denke, wir brauchen mehr Busse. " * 12, "has 72 words, the text 12"),
    ],
)
def test_what_is_no_translation_is_refused_with_its_fault(reply, fault):
    with pytest.raises(UnreadableReply, match=fault):
        Rendering(SAID).read(reply)
