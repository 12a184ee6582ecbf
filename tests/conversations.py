"""Sources of conversations as others lay them out: a corpus of debates in the form of ConvoKit's IQ2, an export of Polis."""

import json

BEFORE = {"for": 30.0, "against": 18.0, "undecided": 52.0}
AFTER = {"for": 41.0, "against": 45.0, "undecided": 14.0}
TEXTS = {
    "d1-0": "Welcome <b>all</b>;\nwho begins? 😀",
    "d2-0": "Good evening.",
    "d1-1": "  I do. It works.  ",
    "d2-1": "It does not.",
    "d1-2": "It does not & never did.",
    "d2-2": "It does\u2028indeed.",
    "d1-3": "Thank you.",
}
"""What is said, by id; the debates do not stand together."""
SPEAKERS = ["Host Hale", "Pat Pro", "Con Conn", "Host Hale"]
TYPES = {"Host Hale": "mod", "Pat Pro": "for", "Con Conn": "against"}


def debates(folder, after=AFTER, texts=TEXTS, **changes):
    """A corpus of two debates, of which the first has votes; `changes` are made to the line of d1-2."""
    folder.mkdir()
    lines = []
    for id, text in texts.items():
        debate, n = id.split("-")
        speaker = SPEAKERS[int(n)]
        line = {"id": id, "conversation_id": f"{debate}-0", "text": text, "speaker": speaker}
        line |= {"meta": {"speakertype": TYPES[speaker], "segment": min(int(n), 2), "nontext": {}}}
        line |= {
            "reply-to": None if n == "0" else f"{debate}-{int(n) - 1}",
            "timestamp": None,
            "vectors": [],
        }
        lines.append(json.dumps(line | (changes if id == "d1-2" else {})))
    (folder / "utterances.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    results = {"pre": BEFORE, "post": after, "breakdown": {}}
    meta = {
        "title": "Does it work?",
        "results": results,
        "winner": "against",
        "date": "May 2015",
        "speakers": {},
    }
    conversations = {
        "d1-0": {"meta": meta, "vectors": []},
        "d2-0": {"meta": {"title": "Voting at 16?"}, "vectors": []},
    }
    (folder / "conversations.json").write_text(json.dumps(conversations), encoding="utf-8")
    speakers = {name: {"meta": {"name": name}, "vectors": []} for name in TYPES}
    (folder / "speakers.json").write_text(json.dumps(speakers), encoding="utf-8")
    (folder / "corpus.json").write_text("{}", encoding="utf-8")
    (folder / "index.json").write_text(json.dumps({"version": 1}), encoding="utf-8")
    return folder


def polis(folder):
    """An export of three comments by two people, on which three voted, in two groups."""
    folder.mkdir()
    files = {
        "summary.csv": 'topic,Trams\nurl,https://example.org\nconversation-description,"Should there be trams, and where?"\n',
        "comments.csv": "timestamp,comment-id,author-id,agrees,disagrees,moderated,comment-body\n"
        '1,0,7,2,1,1,"Yes, by the river."\n2,1,7,1,1,1,Not by the river.\n3,2,8,0,1,0,<script>buses</script>\n',
        "votes.csv": "timestamp,comment-id,voter-id,vote\n1,0,7,1\n2,0,8,1\n3,0,9,-1\n4,1,7,-1\n5,1,8,0\n6,1,8,1\n7,2,9,0\n",
        "participants-votes.csv": "participant,group-id,n-votes,0,1,2\n7,0,2,1,-1,\n8,0,2,1,1,\n9,1,2,-1,,0\n",
        "comment-groups.csv": "comment-id,comment,total-votes\n0,x,3\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


TURNS = "session,turn,speaker,text\na,1,Ann,Why?\na,2,Ben,Because.\na,3,Cem,I see.\n"
"""A table of one short conversation."""
