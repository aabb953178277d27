"""Targets that confdiff writes itself: model folders, checkpoints, results, recommenders and cached teachers."""

import hashlib
import json
import random
from pathlib import Path

import numpy as np

from fuzzing.forging import forge_bytes, forge_entry, forge_json, forge_tree
from fuzzing.target import Target


def _prepare_model(folder: Path) -> None:
    from confdiff.tabular.fitting import fit_comparisons
    from tabular.people import FRAME, JUDGED

    words = np.array(["good", "bad", "plain", "long", "short"])
    texts = [" ".join(words[np.arange(row, row + 4) % 5]) for row in range(len(FRAME))]
    frame = FRAME.assign(note=texts)
    model = fit_comparisons(frame, JUDGED, model="linear", epochs=2, kinds={"note": "text"})
    model.save(folder / "model")


def _forge_model(folder: Path, rng: random.Random) -> str:
    """Damage a file of a model; in most cases compute the digests and the seal again, as an attacker would."""
    model = folder / "model"
    manifest = model / "model.json"
    weights = model / "weights.safetensors"
    forge, path = rng.choice(
        [(forge_json, manifest)] * 5
        + [(forge_bytes, manifest), (forge_entry, manifest)]
        + [(forge_tree, weights)] * 3
        + [(forge_tree, model / "background.safetensors")]
        + [(forge_bytes, weights), (forge_entry, weights), (forge_entry, model / "card.html")]
    )
    damage = forge(path, rng)
    if rng.random() < 0.8:
        seal_again(model)
        damage += ", sealed again"
    return damage


def _prepare_boosted_model(folder: Path) -> None:
    """Write a model of trees with splits of numbers, whose card has all its parts."""
    from tabular.learners import fitted_model

    fitted_model("boosting", "probability").save(folder / "model")


def _forge_boosted_model(folder: Path, rng: random.Random) -> str:
    """Damage the text of the trees or the manifest; in most cases seal the folder again."""
    model = folder / "model"
    forge, path = rng.choice(
        [(_forge_trees, model / "trees.txt")] * 5
        + [(forge_json, model / "model.json")] * 4
        + [(forge_bytes, model / "trees.txt"), (forge_entry, model / "trees.txt")]
    )
    damage = forge(path, rng)
    if rng.random() < 0.9:
        seal_again(model)
        damage += ", sealed again"
    return damage


_WORDS = ("nan", "inf", "-inf", "1e999", "-1", "0", "1", "7", "2147483648", "-2147483649", "1e300", "x", "", "9" * 400)


def _forge_trees(path: Path, rng: random.Random) -> str:
    """Change, remove or repeat one line of the text of trees, or one of its numbers."""
    lines = path.read_text().split("\n")
    row = rng.choice([row for row, line in enumerate(lines) if line])
    kind = rng.choice(["word", "word", "word", "remove", "repeat", "swap"])
    if kind == "word":
        name, sign, values = lines[row].partition("=")
        words = values.split(" ")
        words[rng.randrange(len(words))] = rng.choice(_WORDS)
        lines[row] = name + sign + " ".join(words)
    elif kind == "remove":
        del lines[row]
    elif kind == "repeat":
        lines.insert(rng.randrange(len(lines)), lines[row])
    else:
        other = rng.randrange(len(lines))
        lines[row], lines[other] = lines[other], lines[row]
    path.write_text("\n".join(lines))
    return f"{path.name}, line {row + 1}: {kind}"


def seal_again(model: Path) -> None:
    """Write the digests and the seal that belong to the damaged contents, if the manifest still is an object."""
    path = model / "model.json"
    if not path.is_file() or path.is_symlink():
        return
    try:
        manifest = json.loads(path.read_bytes())
        for name in manifest["files"]:
            if not (model / name).is_file():  # reading a pipe would never end
                continue
            contents = (model / name).read_bytes()
            manifest["files"][name] = hashlib.blake2b(contents, digest_size=16).hexdigest()
        manifest.pop("seal", None)
        seal = hashlib.blake2b(json.dumps(manifest, sort_keys=True).encode(), digest_size=16).hexdigest()
        path.write_text(json.dumps(manifest | {"seal": seal}))
    except (ValueError, TypeError, AttributeError, KeyError, OSError, RecursionError):
        return


def _open_model(folder: Path) -> None:
    from confdiff.tabular.model.card import card_html
    from confdiff.tabular.model.model import load_model
    from tabular.people import FRAME

    model = load_model(folder / "model")
    frame = FRAME.assign(note="good and bad").head(5)
    try:
        probabilities = model.predict_proba(frame)
    except ValueError as error:  # such as columns that another model needs
        raise ValueError(f"{folder}: {error}") from error
    assert probabilities.shape == (5, 2)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    card_html(model)
    model.explain(frame)


_EASY = {"epochs": 3, "batch_size": 32, "schedule": "one-cycle", "device": "cpu"}


def _train(path: Path, **more) -> None:
    from confdiff.models import build_model
    from confdiff.training import Recipe, train
    from easy import easy_pairs

    pairs = easy_pairs(n_items=60, n_pairs=100)
    model = build_model("linear", 3)
    options = {"prior": 0.5, "evaluate": lambda _: {"accuracy": 0.5}, "keep_best": "accuracy"}
    train(model, pairs, "pcomp-teacher", recipe=Recipe(**_EASY), checkpoint=path, **options, **more)


class _StopHere(Exception):
    pass


def _prepare_checkpoint(folder: Path) -> None:
    """Keep the checkpoint of the middle of a run."""
    from unittest.mock import patch

    from confdiff.training.run import Run

    steps = []
    take_step = Run.take_step

    def counted(run: Run) -> None:
        if len(steps) == 6:
            raise _StopHere
        steps.append(take_step(run))

    with patch.object(Run, "take_step", counted):
        try:
            _train(folder / "checkpoint", checkpoint_seconds=0)
        except _StopHere:
            return
    raise AssertionError("the run ended before its checkpoint was taken")


def _forge_file_of_tensors(name: str):
    def forge(folder: Path, rng: random.Random) -> str:
        path = next(folder.glob(name))
        return rng.choice([forge_tree] * 6 + [forge_bytes, forge_entry])(path, rng)

    return forge


def _open_checkpoint(folder: Path) -> None:
    try:
        _train(folder / "checkpoint", checkpoint_seconds=1e9)
    except FloatingPointError:  # finite weights may be so large that the risk is not
        return


def _prepare_results(folder: Path) -> None:
    from confdiff.experiments.trials.store import Store
    from trial_records import trial

    store = Store(folder / "results")
    for seed in range(3):
        store.save(trial("confdiff-abs", seed, 0.9))
        store.save(trial("oracle-soft", seed, 0.9, dataset="letter"))
    store.compact()
    store.save(trial("confdiff-abs", 3, 0.8))
    store.save(trial("confdiff-relu", 3, 0.8))
    store.save(_ranking_record())


def _ranking_record():
    from confdiff.experiments.plans.recommender_trial import RecommenderSpec
    from confdiff.experiments.trials.record import RANKING_METRICS, RankingRecord

    spec = RecommenderSpec(dataset="jester", source="jester1.npz", method="confdiff-abs")
    return RankingRecord(
        key=spec.key,
        dataset=spec.dataset,
        source=spec.source,
        protocol="paper",
        method=spec.method,
        prior=spec.prior,
        seed=spec.seed,
        epochs=spec.epochs,
        model=spec.model,
        partners=spec.partners,
        metrics=dict.fromkeys(RANKING_METRICS, 0.5),
        evaluated=10,
        candidates=50,
        pairs=100,
        seconds=1.0,
        processor_seconds=1.0,
    )


def _forge_results(folder: Path, rng: random.Random) -> str:
    files = sorted((folder / "results").rglob("*.json*"))
    path = rng.choice(files)
    if path.suffix == ".json":
        return rng.choice([forge_json] * 6 + [forge_bytes, forge_entry])(path, rng)
    if rng.random() < 0.3:
        return rng.choice([forge_bytes, forge_entry])(path, rng)
    lines = path.read_text().splitlines()
    row = rng.randrange(len(lines))
    line = folder / "line.json"
    line.write_text(lines[row])
    damage = forge_json(line, rng)
    lines[row] = line.read_text()
    line.unlink()
    path.write_text("\n".join(lines) + "\n")
    return f"{path.name}, line {row + 1}: {damage}"


def _open_results(folder: Path) -> None:
    """Read, pack and report: the other trials are never lost."""
    from confdiff.experiments.report.writing import report_blocks, report_markdown
    from confdiff.experiments.trials.store import Store

    store = Store(folder / "results")
    before = {record.key for record in store.records()}
    contents = _size(folder / "results")
    store.compact()
    assert {record.key for record in store.records()} == before
    assert before <= store.keys()
    assert len(before) >= 5
    assert _size(folder / "results") >= 0.9 * contents
    assert [path.name for path in folder.iterdir()] == ["results"]
    report_markdown(report_blocks(store.records()))


def _size(folder: Path) -> int:
    """The bytes of all regular files of results, except for white space at the ends of lines."""
    files = [path for path in folder.rglob("*.json*") if path.is_file()]
    return sum(len(path.read_bytes().strip()) for path in files)


def _prepare_recommender(folder: Path) -> None:
    from confdiff.io.tables import write_table
    from confdiff.recommender.fitting import fit_recommender, grade_file
    from confdiff.recommender.learning import Learning
    from easy import checkerboard

    data = checkerboard(n_users=8, n_items=12)
    columns = {"user": "who", "item": "what", "strength": "liked", "time": "when"}
    values = {"who": data.users, "what": data.items, "liked": data.strength, "when": data.time}
    write_table(folder / "likes.csv", values)
    options = {"columns": columns, "confidence": "min-max", "threshold": None}
    graded = grade_file(folder / "likes.csv", **options).graded
    learning = Learning(method="confdiff-regression", epochs=1, model="mf", n_negatives=1)
    fitted = fit_recommender(graded, learning, options=options | {"everything": False}, device="cpu")
    fitted.recommender.save(folder / "recommender.safetensors")


def _open_recommender(folder: Path) -> None:
    from confdiff.recommender.fitting import evaluate_held_out
    from confdiff.recommender.saved import Recommender

    recommender = Recommender.load(folder / "recommender.safetensors")
    top = recommender.top(recommender.user_ids[:2], k=3)
    assert np.isfinite(top["score"]).all()
    try:
        evaluate_held_out(recommender, folder / "likes.csv")
    except ValueError as error:  # such as other negatives than users have
        raise ValueError(f"{folder}: {error}") from error


def _teach(folder: Path) -> None:
    from confdiff.teacher import Teaching, teach
    from confdiff.training import Recipe
    from easy import easy_pairs

    pairs = easy_pairs(n_items=40)
    grades = teach(
        pairs.items,
        pairs.labels,
        teaching=Teaching("linear", Recipe(epochs=1, batch_size=32)),
        cache_folder=folder / "cache",
    )
    assert grades.posteriors.shape == (40,)
    assert grades.posteriors.isfinite().all()
    assert grades.at_prior(0.3).isfinite().all()


SAVED_FILES = (
    Target("model", _prepare_model, _forge_model, _open_model),
    Target("boosted-model", _prepare_boosted_model, _forge_boosted_model, _open_model),
    Target("checkpoint", _prepare_checkpoint, _forge_file_of_tensors("checkpoint"), _open_checkpoint),
    Target("results", _prepare_results, _forge_results, _open_results),
    Target("recommender", _prepare_recommender, _forge_file_of_tensors("*.safetensors"), _open_recommender),
    Target("teacher", _teach, _forge_file_of_tensors("cache/*.safetensors"), _teach),
)
