"""The demo: pictures of digits that a browser shows, and a study that simulated judges fill."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from command import confdiff
from confdiff.labelling import open_study
from confdiff.labelling.demo import DEMO_JUDGES, create_digit_study, enlarged, png_bytes
from confdiff.labelling.simulating import AnnotatorClient
from confdiff.tabular.tables import read_items


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return create_digit_study(tmp_path_factory.mktemp("demo") / "d", n_items=60, n_new=40)


def test_pictures_are_pngs_of_the_digits(files):
    from PIL import Image

    study = open_study(files.study)
    items = study.items()
    study.close_connections()
    for k in (0, 7, 59):
        pixels = np.array([items[f"pixel{j}"][k] for j in range(64)])
        with Image.open(files.folder / "pictures" / str(items["picture"][k])) as picture:
            assert picture.mode == "L"
            assert np.array_equal(np.asarray(picture), enlarged(pixels))


def test_a_picture_is_written_as_it_is():
    from io import BytesIO

    from PIL import Image

    picture = np.arange(200, dtype=np.uint8).reshape(10, 20)
    with Image.open(BytesIO(png_bytes(picture))) as read:
        read.verify()
    with Image.open(BytesIO(png_bytes(picture))) as read:
        assert np.array_equal(np.asarray(read), picture)


def test_new_digits_are_not_in_the_study(files):
    study = open_study(files.study)
    new = read_items(files.new_items)
    assert len(new.ids) == 40
    assert not set(new.ids.tolist()) & set(study.item_ids())
    assert set(study.columns) - set(new.columns) == {"id", "picture"}
    study.close_connections()


def test_an_existing_folder_is_refused(files):
    before = sorted(files.folder.rglob("*"))
    with pytest.raises(FileExistsError, match="choose another folder"):
        create_digit_study(files.folder)
    assert sorted(files.folder.rglob("*")) == before


def test_nothing_remains_if_the_study_cannot_be_made(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr("confdiff.labelling.study.create_study", full)
    with pytest.raises(OSError, match="no space left"):
        create_digit_study(tmp_path / "d", n_items=5, n_new=5)
    assert list(tmp_path.iterdir()) == []


def test_the_command_stores_the_number_of_answers_and_ends(tmp_path):
    result = confdiff("label", "demo", tmp_path / "d", "--answers", "40", "--exit")
    assert result.returncode == 0, result.stderr
    assert "40 simulated answers stored" in result.stdout
    assert "confdiff fit" in result.stdout
    study = open_study(tmp_path / "d" / "digits.study")
    assert len(study.answers()["left"]) == 40
    assert [row.name for row in study.annotators()] == [judge.name for judge in DEMO_JUDGES]
    study.close_connections()
    again = confdiff("label", "demo", tmp_path / "d", "--exit")
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_the_owner_looks_while_judges_work_and_ctrl_c_keeps_the_study(tmp_path):
    command = [Path(sys.executable).with_name("confdiff"), "label", "demo", tmp_path / "d"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        links = {}
        while len(links) < 2:
            match = re.match(r"(owner's page|your own annotator link): (http://\S+?/)(\S+)", process.stdout.readline())
            if match:
                links[match[1]] = match.groups()[1:]
        owner = AnnotatorClient(links["owner's page"][0])
        owner.join(links["owner's page"][1])
        own = AnnotatorClient(links["your own annotator link"][0])
        own.join(links["your own annotator link"][1])
        assert own.request("GET", "api/state")[0] == 200
        ends_at = time.monotonic() + 60
        while sum(row["answered"] for row in owner.request("GET", "owner/api/report")[1]["annotators"]) < 5:
            assert time.monotonic() < ends_at
            time.sleep(0.2)
        owner.close()
        own.close()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "confdiff check" in rest
    study = open_study(tmp_path / "d" / "digits.study")
    assert len(study.answers()["left"]) >= 5
    assert study.annotators()[-1].name == "you"
    study.close_connections()
