"""What a model of random weights says behind a server that enforces schemas: any value that its
schema allows, and words without sense where none is stated.
"""

import json
import random
from collections.abc import Mapping
from string import ascii_letters
from typing import Any

from delibsim.testing.answers import SPEECH, plain

LETTERS = "abcdefghijklmnopqrstuvwxyz      .,;:!?\"'\\{}[]\n\t>#*-0123456789äß€😀"


def random_reply(body: Mapping[str, Any], enforces: str) -> str:
    """A reply to a request, drawn by its seed: by its schema where it states one in the format that
    is enforced, else words, as many as the request wants if it says so.
    """
    text = "\n".join(plain(message["content"]) for message in body["messages"])
    draw = random.Random(f"{body.get('seed')}/{text}")
    stated = body.get("response_format") or {}
    if stated.get("type") == enforces:
        schema = (stated.get("json_schema") or stated)["schema"]
        return json.dumps(value_of(schema, draw), ensure_ascii=draw.random() < 0.5)
    limits = SPEECH.search(text)
    count = draw.randint(int(limits[1]), int(limits[2])) if limits else draw.randint(20, 60)
    return " ".join(
        "".join(draw.choices(ascii_letters, k=draw.randint(1, 9))) for _ in range(count)
    )


def value_of(schema: Mapping[str, Any], draw: random.Random) -> Any:
    """Any value that a schema allows, of the keywords that grammars of servers know."""
    if "anyOf" in schema:
        return value_of(draw.choice(schema["anyOf"]), draw)
    if "enum" in schema:
        return draw.choice(schema["enum"])
    match schema["type"]:
        case "object":
            return {name: value_of(own, draw) for name, own in schema["properties"].items()}
        case "integer":
            return draw.randint(schema["minimum"], schema["maximum"])
        case "string":
            length = draw.randint(schema.get("minLength", 0), schema.get("maxLength", 60))
            return "".join(draw.choices(LETTERS, k=length))
        case "null":
            return None
        case other:
            raise ValueError(f"no grammar for {other} in {json.dumps(schema)}")
