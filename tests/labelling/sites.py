"""Studies for tests of pages: texts, Markdown, images, sounds and tables, made here."""

import math
import struct
import uuid
import wave

from PIL import Image

from confdiff.labelling import StudySettings, create_study

TEXTS = {"id": [f"t{k}" for k in range(8)], "text": [f"Argument {k} for a longer break." for k in range(8)]}
QUESTION = "Which argument is more convincing?"
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "[a link](javascript:alert(3)) and ![a picture](https://example.org/spy.png)",
    '<svg onload="alert(4)"></svg>',
    "{{ 7 * 7 }} </script><script>alert(5)</script>",
    "<iframe src='https://example.org'></iframe>",
]


def text_study(folder, *, items=TEXTS, trained=True, name="texts", **settings):
    """Return a study in a file; with ``trained`` the annotator Ann is invited and has no practice before it."""
    options = {"question": QUESTION, "judges": 2, "pairs_per_item": 4} | settings
    study = create_study(folder / f"{name}.db", items, StudySettings(**options))
    if trained:
        study.invite("Ann")
        study.finish_training("Ann")
    return study


def hostile_study(folder, **settings):
    """Return a study whose items, columns, title and words try to run scripts."""
    items = {"id": [f"<b>{k}" for k in range(6)], "<script>alert(0)</script>": HOSTILE, "marked": HOSTILE}
    return text_study(
        folder,
        items=items,
        title="<script>alert('title')</script>",
        question="<img src=x onerror=alert('question')>",
        instructions="<script>alert('instructions')</script> [x](javascript:alert(6))",
        words=("<b>left", "</script>", "<img src=x onerror=alert(7)>"),
        points=3,
        kinds={"marked": "markdown"},
        **settings,
    )


def image_study(folder, *, kind="png", **settings):
    """Return a study of eight images of different sizes."""
    media = folder / "media"
    media.mkdir()
    for k in range(8):
        Image.new("RGB", (320 + 40 * k, 240), (30 * k, 90, 160)).save(media / f"{k}.{kind}")
    items = {"id": [f"i{k}" for k in range(8)], "photo": [f"{k}.{kind}" for k in range(8)]}
    return text_study(folder, items=items, media=str(media), name="images", **settings)


def audio_study(folder, **settings):
    """Return a study of eight tones of a fifth of a second."""
    media = folder / "media"
    media.mkdir()
    for k in range(8):
        with wave.open(str(media / f"{k}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(8000)
            samples = (int(3000 * math.sin(i * (k + 3) / 20)) for i in range(1600))
            file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    items = {"id": [f"a{k}" for k in range(8)], "clip": [f"{k}.wav" for k in range(8)]}
    return text_study(folder, items=items, media=str(media), name="tones", **settings)


def table_study(folder, **settings):
    """Return a study of patients; a pair may have the same ward."""
    items = {
        "id": [f"p{k}" for k in range(6)],
        "age": [31, 45, 62, 31, 70, 22],
        "ward": ["surgery"] * 6,
        "notes": ["Stable.", "Fever since last night, and the wound is red. " * 3, "Pain.", "Stable.", "Tired.", None],
    }
    return text_study(folder, items=items, question="Which patient is more urgent?", name="patients", **settings)


def answer_to(view, grade=1 / 3, **values):
    """Return the body of an answer to a question of the API."""
    body = {"assignment": view["id"], "client_id": str(uuid.uuid4()), "grade": grade, "same": None}
    if view["question"] == "same":
        body |= {"grade": None, "same": 1.0}
    return body | {"reason": None, "note": None, "seconds": 1.5} | values


def stored(study):
    """Return the number of answers that count."""
    return len(study.answers()["left"])
