"""Plans of comparisons, from arguments and from TOML files."""

from dataclasses import replace

import pytest

from confdiff.datasets import DATASETS
from confdiff.experiments.comparing.plan import ComparisonPlan, Setting, make_plan, noise_options
from confdiff.tasks import TaskSpec
from plugged import method_file, unload_all

METHODS = ("confdiff-abs", "oracle-soft")


def test_the_grid_has_each_trial_once_all_settings_of_a_seed_before_the_next():
    plan = ComparisonPlan(METHODS, ("digits", "usps"), (0.2, 0.5), ("exact", "likert:5"), trials=3, epochs=7)
    grid = plan.grid()
    assert len(grid) == len({spec.key for spec in grid}) == 2 * 2 * 2 * 2 * 3
    assert {spec.task.seed for spec in grid[: len(grid) // 3]} == {0}
    assert {spec.epochs for spec in grid} == {7}
    assert grid[0].task == TaskSpec("digits", 0.2, "authors", 0)
    assert grid[2].task == TaskSpec("digits", 0.2, "authors", 0, noise="likert", noise_amount=5.0)
    assert plan.settings[-1] == Setting("usps", 0.5, "likert:5")
    assert plan.baseline == "confdiff-abs"


def test_its_trials_are_those_of_the_paper_s_tables():
    """Finished trials of ``reproduce`` are not run again."""
    from confdiff.experiments.plans.paper_tables import table_grid

    keys = {spec.key for spec in table_grid("table2")}
    assert {spec.key for spec in ComparisonPlan(METHODS, ("usps",)).grid()} < keys


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("exact", {}),
        ("labels", {"noise": "labels"}),
        ("additive:.3", {"noise": "additive", "noise_amount": 0.3}),
        ("likert:5", {"noise": "likert", "noise_amount": 5.0}),
    ],
)
def test_kinds_of_noise(text, options):
    assert noise_options(text) == options


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ("confdif-abs", "oracle-soft")}, "unknown method 'confdif-abs'. Did you mean 'confdiff-abs'"),
        ({"datasets": ("digit",)}, "unknown data set 'digit'. Did you mean 'digits'"),
        ({"datasets": ("kuairec",)}, "kuairec holds interactions"),
        ({"methods": ("confdiff-abs", "bpr")}, "bpr only ranks items"),
        ({"methods": ("confdiff-abs",)}, "at least two methods; got confdiff-abs"),
        ({"methods": ("confdiff-abs", "confdiff-abs")}, "methods must be distinct; confdiff-abs is repeated"),
        ({"datasets": ()}, "a comparison needs datasets; got none"),
        ({"priors": (1.5,)}, "prior must be a probability"),
        ({"noise": ("aditive:0.3",)}, "unknown noise 'aditive'. Did you mean 'additive'"),
        ({"noise": ("additive",)}, "needs its amount after a colon, such as additive:0.3"),
        ({"noise": ("likert:many",)}, "such as likert:5; got 'likert:many'"),
        ({"noise": ("additive:-1",)}, "must be a finite number of at least 0"),
        ({"noise": ("labels:2",)}, "'labels' has no amount; got noise 'labels:2'"),
        ({"trials": 0}, "trials must be a whole number of at least 1"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
        ({"model": "liner"}, "unknown model 'liner'. Did you mean 'linear'"),
        ({"protocol": "author"}, "unknown protocol 'author'. Did you mean 'authors'"),
        ({"reference": "pcomp-abs"}, "unknown reference among the methods 'pcomp-abs'"),
    ],
)
def test_mistakes(changes, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        ComparisonPlan(**({"methods": METHODS, "datasets": ("digits",)} | changes))


NAMES = """
methods = ["confdiff-abs", "oracle-soft"]
datasets = ["digits"]
"""
PLAN = f"""{NAMES}
priors = [0.2, 1e-1]
noise = ["exact", "additive:0.3"]
epochs = 9
n_pairs = 50
model = "linear"
reference = "oracle-soft"
"""


def test_a_file_and_arguments_complete_each_other(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = make_plan(tmp_path / "plan.toml", trials=2, epochs=9)  # the same value twice is no contradiction
    assert plan == ComparisonPlan(
        METHODS,
        ("digits",),
        priors=(0.2, 0.1),
        noise=("exact", "additive:0.3"),
        trials=2,
        epochs=9,
        n_pairs=50,
        model="linear",
        reference="oracle-soft",
    )
    assert make_plan(methods=METHODS, datasets=("digits",)) == ComparisonPlan(METHODS, ("digits",))


def test_the_command_of_a_plan_gives_the_plan(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    command = make_plan(tmp_path / "plan.toml").command
    assert command == (
        "confdiff compare --methods confdiff-abs,oracle-soft --datasets digits --priors 0.2,0.1 "
        "--noise exact,additive:0.3 --epochs 9 --n-pairs 50 --model linear --reference oracle-soft"
    )


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (PLAN, {"epochs": 5}, "epochs=5 contradicts epochs = 9 in .*plan.toml: remove one of them"),
        (PLAN, {"priors": (0.5,)}, r"priors=\[0.5\] contradicts priors = \[0.2, 0.1\] in"),
        ("metods = []", {}, "plan.toml: unknown key 'metods'. Did you mean 'methods'"),
        ("methods = 'confdiff-abs'", {}, "plan.toml: methods must be a list of names"),
        ("epochs = [3]", {}, r"plan.toml: epochs must be a whole number, such as 200; got \[3\]"),
        ("epochs = true", {}, "plan.toml: epochs must be a whole number, such as 200; got True"),
        ("priors = ['half']", {}, "plan.toml: priors must be a list of numbers"),
        ("epochs = ", {}, "plan.toml cannot be read as TOML"),
        ("datasets = ['digits']", {}, "a comparison needs methods: pass methods=..., or the key methods in"),
    ],
)
def test_mistakes_in_files(tmp_path, text, given, message):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        make_plan(tmp_path / "plan.toml", **given)


def test_a_plan_names_its_plug_ins(tmp_path):
    method_file(tmp_path)
    (tmp_path / "plan.toml").write_text(f"{NAMES.replace('confdiff-abs', 'my-squares')}plugins = ['mine.py']\n")
    try:
        plan = make_plan(tmp_path / "plan.toml")
        assert plan.methods == ("my-squares", "oracle-soft")
        assert plan.command.endswith(f" --plugin {tmp_path / 'mine.py'}")
    finally:
        unload_all()
    (tmp_path / "plan.toml").write_text("plugins = ['missing.py']")
    with pytest.raises(FileNotFoundError, match=r"missing\.py does not exist"):
        make_plan(tmp_path / "plan.toml")


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the plan .*no\.toml does not exist"):
        make_plan(tmp_path / "no.toml")


def test_the_number_of_epochs_is_that_of_each_data_set(monkeypatch):
    entry = DATASETS["usps"]
    monkeypatch.setitem(DATASETS, "usps", replace(entry, setting=replace(entry.setting, epochs=20)))
    plan = ComparisonPlan(METHODS, ("digits", "usps"), trials=1)
    assert {(spec.task.dataset, spec.epochs) for spec in plan.grid()} == {("digits", 200), ("usps", 20)}
    assert {spec.epochs for spec in replace(plan, epochs=3).grid()} == {3}
