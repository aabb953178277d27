"""The rule for outputs, for every command that writes: see confdiff.io.outputs."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.test_commands import COMMANDS as ALL_COMMANDS
from confdiff.cli.main import app
from confdiff.io.tables import write_table
from confdiff.labelling import StudySettings, create_study
from confdiff.recommender.saved import Recommender
from confdiff.tabular.fitting import fit_comparisons
from tabular.people import FRAME, JUDGED

RECORDS = Path(__file__).parents[2] / "results" / "pendigits.jsonl"


@dataclass
class Writer:
    """A command that writes.

    Attributes
    ----------
    arguments : tuple
        The command and its arguments, without the output.
    files : tuple
        The files that it writes into the folder of its output; empty if the output is a file.
    ending : str
        Ending of the output.
    flag : str
        The flag of the output.
    reads : tuple
        Inputs that could also be the name of an output.
    """

    arguments: tuple
    files: tuple = ()
    ending: str = ""
    flag: str = "-o"
    reads: tuple = ()

    def run(self, output, *flags):
        set_overwrite = flags if self.flag != "--results" else ()
        return CliRunner().invoke(app, [*self.arguments, self.flag, str(output), *set_overwrite])

    def outputs(self, output):
        return [Path(output) / name for name in self.files] or [Path(output)]


WRITERS = {
    "fit": Writer(("fit", "items.csv", "pairs.csv", "--model", "linear", "--prior", "0.5", "--epochs", "1")),
    "predict": Writer(("predict", "model", "items.csv"), ending=".csv", reads=("items.csv",)),
    "evaluate": Writer(
        ("evaluate", "model", "evaluation.json", "--labels", "ill"), files=("evaluation.html", "evaluation.json")
    ),
    "explain": Writer(("explain", "model", "items.csv"), ending=".csv", reads=("items.csv",)),
    "check": Writer(("check", "check.json", "pairs.csv"), files=("check.html", "check.json")),
    "rank": Writer(("rank", "pairs.csv"), ending=".csv", reads=("pairs.csv",)),
    "export": Writer(("export", "model"), ending=".onnx", flag="--onnx", reads=("model/weights.safetensors",)),
    "judge": Writer(
        ("judge", "items.csv", "--question", "Which?", "--llm", "x", "--base-url", "http://127.0.0.1:9"),
        ending=".csv",
        reads=("items.csv",),
    ),
    "convert": Writer(("convert", "pairs.csv"), files=("items.csv", "pairs.csv")),
    "compare": Writer(
        ("compare", "--methods", "confdiff-abs,oracle-soft", "--datasets", "digits", "--epochs", "1", "--trials", "1"),
        files=("comparison.html", "comparison.json", "comparison.md", "settings.csv", "pairs.csv"),
    ),
    "demo": Writer(("demo", "--epochs", "1"), files=("demo.png", "demo.json")),
    "theory": Writer(("theory", "--repetitions", "20"), files=("theory.html", "theory.csv", "theory.json")),
    "report": Writer(("report", "--results", "store"), files=("results.html",)),
    "data show": Writer(("data", "show", "digits"), ending=".png"),
    "data export": Writer(("data", "export", "ukpconvarg1"), files=("items.csv", "pairs.csv")),
    "label export": Writer(("label", "export", "study.db"), files=("items.csv", "pairs.csv")),
    "label backup": Writer(("label", "backup", "study.db"), ending=".db", reads=("study.db",)),
    "label design": Writer(("label", "design", "items.csv"), ending=".csv", reads=("items.csv",)),
    "pairs make": Writer(("pairs", "make", "digits"), ending=".csv"),
    "pairs describe": Writer(("pairs", "describe", "pairs.csv"), ending=".png"),
    "recommend train": Writer(("recommend", "train", "likes.csv"), reads=("likes.csv",)),
    "recommend topk": Writer(
        ("recommend", "topk", "recommender", "--seen", "likes.csv"), ending=".csv", reads=("likes.csv",)
    ),
    "run": Writer(("run", "digits", "--epochs", "1"), files=("trials",), flag="--results"),
    "reproduce": Writer(("reproduce", "table2"), files=("trials",), flag="--results"),
}
FILES = [name for name, writer in WRITERS.items() if not writer.files and name != "fit"]
FOLDERS = [name for name, writer in WRITERS.items() if writer.files and writer.flag == "-o"]


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Inputs of all commands."""
    folder = tmp_path_factory.mktemp("outputs")
    FRAME.to_csv(folder / "items.csv")
    labelled = FRAME.reset_index().assign(ill=0)
    for name in ("check.json", "evaluation.json"):
        labelled.to_json(folder / name, orient="records")
    JUDGED.to_csv(folder / "pairs.csv", index=False)
    fit_comparisons(FRAME, JUDGED, model="linear", prior=0.5, epochs=1).save(folder / "model")
    (folder / "store").mkdir()
    (folder / "store" / "pendigits.jsonl").write_text(RECORDS.read_text().splitlines()[0] + "\n")
    write_table(folder / "likes.csv", {"user_id": [1, 1, 2], "video_id": [1, 2, 1], "watch_ratio": [1.0, 3.0, 0.5]})
    (folder / "recommender").write_bytes(b"")
    create_study(folder / "study.db", FRAME, StudySettings(question="Who is older?")).close_connections()
    return folder


@pytest.fixture
def here(own, tmp_path, monkeypatch):
    """A copy of the inputs, as the current folder; whatever happens in the test, it must remain the same."""
    shutil.copytree(own, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own"


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(here, writer, output, message, *flags):
    """Check that a command ends with one message, before it computes anything, and changes nothing."""
    before = contents(here)
    result = writer.run(output, *flags)
    assert result.exit_code == 1, result.output
    assert message in str(result.exception)
    assert isinstance(result.exception.__cause__, OSError)
    assert "training" not in result.stderr
    assert "simulating" not in result.stderr
    assert contents(here) == before


def test_the_table_has_all_commands_that_write():
    outputs = {"-o", "--onnx", "--results"}
    writing = {
        " ".join(words)
        for words, command in ALL_COMMANDS.items()
        if outputs & {name for parameter in command.params for name in parameter.opts}
    }
    assert writing == set(WRITERS)


def test_every_command_that_replaces_has_the_flag():
    for words, command in ALL_COMMANDS.items():
        name = " ".join(words)
        if name in WRITERS and WRITERS[name].flag != "--results":
            assert "--overwrite" in {flag for parameter in command.params for flag in parameter.opts}, name


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("place", ["model/out", "model/deeper/out", "link/out"])
def test_nothing_is_written_into_a_model_folder(here, name, place):
    (here / "link").symlink_to("model")
    writer = WRITERS[name]
    refused(here, writer, place + writer.ending, "lies in the model folder", "--overwrite")


@pytest.mark.parametrize("name", FOLDERS)
def test_no_page_or_table_is_written_into_a_model_folder(here, name):
    refused(here, WRITERS[name], "model", "lies in the model folder", "--overwrite")


@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_a_foreign_file_is_kept(here, name):
    writer = WRITERS[name]
    for path in writer.outputs(f"out{writer.ending}"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        refused(here, writer, f"out{writer.ending}", f"{path} already exists. Choose another name, or pass --overwrite")
        path.unlink()


@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_a_folder_in_the_place_of_a_file_is_kept(here, name):
    writer = WRITERS[name]
    for path in writer.outputs(f"out{writer.ending}"):
        path.mkdir(parents=True)
        refused(here, writer, f"out{writer.ending}", f"{path} is a folder", "--overwrite")
        path.rmdir()


@pytest.mark.parametrize("name", [name for name in WRITERS if WRITERS[name].reads])
def test_an_input_is_never_replaced(here, name):
    writer = WRITERS[name]
    for read in writer.reads:
        target = here / read
        (here / "sub").mkdir(exist_ok=True)
        hard = here / f"hard{target.suffix}"
        hard.hardlink_to(target)
        soft = here / "sub" / f"soft{target.suffix}"
        soft.symlink_to(target)
        spellings = [read, target, f"./sub/../{read}", soft, *([hard] if "model" not in read else [])]
        for spelling in spellings:
            refused(here, writer, spelling, "", "--overwrite")


@pytest.mark.parametrize("name", ["evaluate", "check", "convert"])
def test_an_input_that_has_the_name_of_a_page_is_never_replaced(here, name):
    refused(here, WRITERS[name], ".", "is an input of this run", "--overwrite")


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("place", ["items.csv/out", "/proc/confdiff/out"])
def test_a_place_that_cannot_be_written_is_refused_before_any_work(here, name, place):
    writer = WRITERS[name]
    refused(here, writer, place + writer.ending, "cannot be written")


@pytest.mark.parametrize("output", [".", "..", "/", "thesis", "thesis/", "mixed", "items.csv", "~"])
@pytest.mark.parametrize("flags", [(), ("--resume",), ("--overwrite",), ("--resume", "--overwrite")], ids=str)
def test_fit_replaces_no_folder_but_a_model(here, output, flags):
    for folder in ("thesis", "~"):
        (here / folder).mkdir()
        (here / folder / "thesis.tex").write_text("mine")
    shutil.copytree(here / "model", here / "mixed")
    (here / "mixed" / "items.csv").write_text("mine")
    refused(here, WRITERS["fit"], output, "", *flags)


def test_fit_with_resume_and_nothing_to_resume_keeps_a_model(here):
    refused(here, WRITERS["fit"], "model", "model already exists", "--resume")


def test_a_foreign_file_named_like_the_checkpoint_is_kept(here):
    (here / "m.checkpoint").write_text("mine")
    for flags in ((), ("--overwrite",)):
        refused(here, WRITERS["fit"], "m", "is not a checkpoint of confdiff", *flags)


def test_fit_replaces_its_own_model_with_overwrite(here):
    result = WRITERS["fit"].run("model", "--overwrite")
    assert result.exit_code == 0, result.exception
    assert sorted(path.name for path in here.iterdir()) == sorted(
        [
            "check.json",
            "evaluation.json",
            "items.csv",
            "likes.csv",
            "model",
            "pairs.csv",
            "recommender",
            "store",
            "study.db",
        ]
    )


def test_a_streamed_fit_keeps_a_folder_named_work(here):
    JUDGED.to_parquet("pairs.parquet")
    for name in ("m.work", "work", "stream"):
        (here / name).mkdir()
        (here / name / "items.npy").write_text("mine")
    before = contents(here)
    arguments = ("fit", "items.csv", "pairs.parquet", "--stream", "--prior", "0.5", "--epochs", "1", "-o", "m")
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.exception
    shutil.rmtree(here / "m")
    assert contents(here) == before


@pytest.mark.parametrize("name", ["evaluate", "check", "data show"])
def test_a_page_or_figure_of_confdiff_is_replaced_without_a_flag(here, name):
    writer = WRITERS[name]
    for _ in range(2):
        result = writer.run(f"out{writer.ending}")
        assert result.exit_code == 0, result.exception
    if writer.files:
        (here / "out" / "notes.txt").write_text("mine")
        assert writer.run("out").exit_code == 0
        assert (here / "out" / "notes.txt").read_text() == "mine"


def test_devices_are_refused(here):
    (here / "null.csv").symlink_to("/dev/null")
    (here / "out.csv").symlink_to("/dev/stdout")
    for name in ("null.csv", "out.csv"):
        refused(here, WRITERS["predict"], name, "is a device or a pipe", "--overwrite")
    for device in ("/dev/null", "/dev/full", "/dev/stdout"):
        refused(here, WRITERS["recommend train"], device, "is a device or a pipe", "--overwrite")
    assert Path("/dev/null").is_char_device()


def test_library_functions_follow_the_rule(here):
    """The functions behind the commands check by themselves."""
    from confdiff.tabular.model.model import load_model
    from confdiff.tabular.model.onnx import export_onnx
    from confdiff.tabular.model.scoring import predict_file

    model = load_model("model")
    recommender = Recommender(network=None, model="mf", user_ids=np.array([1]), item_ids=np.array([1]), options={})
    before = contents(here)
    with pytest.raises(FileExistsError, match="lies in the model folder"):
        predict_file(model, here / "items.csv", here / "model" / "scores.csv")
    with pytest.raises(FileExistsError, match="is an input of this run"):
        predict_file(model, here / "items.csv", here / "items.csv", overwrite=True)
    with pytest.raises(FileExistsError, match="already exists"):
        export_onnx(model, here / "likes.csv")
    with pytest.raises(FileExistsError, match=r"already exists.*overwrite=True"):
        recommender.save(here / "likes.csv")
    with pytest.raises(FileExistsError, match="is not a model folder"):
        model.save(here / "store", overwrite=True)
    assert contents(here) == before
