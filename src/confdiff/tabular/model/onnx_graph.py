"""Write linear models and boosted trees as ONNX graphs, operator by operator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.features.encoders import Numbers
from confdiff.tabular.model.classifiers import classifier_kind
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.model.onnx_trees import category_sets, tree_attributes

_OPSET = 18
_TREES_OPSET = 3
_TREES_DOMAIN = "ai.onnx.ml"
_IR_VERSION = 8  # of opset 18, so that runtimes since 2023 read the file


class Graph:
    """Operators and constants of an ONNX graph that is being written."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant array, and return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def apply(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        from onnx import helper

        name = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def cast(self, value: str, dtype: Any, *, output: str | None = None) -> str:
        """Convert an array to a type of NumPy."""
        from onnx import helper

        return self.apply("Cast", value, output=output, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def graph_model(model: ComparisonModel, width: int, numbers: Numbers | None, outputs: tuple[str, ...]) -> Any:
    """Return the ONNX model of a linear model or of boosted trees.

    The input of trees are 64-bit floats. A decimal number often lies exactly between two training values, where trees
    split, and its nearest 32-bit float could be on the other side.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    width : int
        The number of input columns.
    numbers : Numbers or None
        The encoder of the input columns; None if the input are features.
    outputs : tuple of str
        The names of the outputs, the first of which is the probability or the score.
    """
    from onnx import TensorProto, helper

    graph = Graph()
    features = "items" if numbers is None else _encoded(graph, numbers)
    is_linear = classifier_kind(model.classifier) == "linear"
    scores = _linear_scores(graph, model, features) if is_linear else _tree_scores(graph, model, features)
    _add_outputs(graph, model, scores, outputs)
    described = helper.make_graph(
        graph.nodes,
        "confdiff",
        [helper.make_tensor_value_info("items", TensorProto.FLOAT if is_linear else TensorProto.DOUBLE, ["n", width])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in outputs],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_TREES_DOMAIN, _TREES_OPSET)]
    return helper.make_model(described, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="confdiff")


def _encoded(graph: Graph, numbers: Numbers) -> str:
    """Standardise the input as :meth:`Numbers.encode` does, with missing numbers filled and marked."""
    missing = graph.apply("IsNaN", "items")
    filled = graph.apply("Where", missing, graph.constant([numbers.fill]), graph.cast("items", np.float64))
    centred = graph.apply("Sub", filled, graph.constant([numbers.mean]))
    scaled = graph.cast(graph.apply("Div", centred, graph.constant([numbers.scale])), np.float32)
    if not numbers.marked:
        return scaled
    marked = graph.constant([numbers.columns.index(name) for name in numbers.marked], np.int64)
    marks = graph.apply("Gather", graph.cast(missing, np.float32), marked, axis=1)
    return graph.apply("Concat", scaled, marks, axis=1)


def _linear_scores(graph: Graph, model: ComparisonModel, features: str) -> str:
    classifier: Any = model.classifier
    weights = graph.constant(classifier.coef_.reshape(-1, 1))
    products = graph.apply("MatMul", graph.cast(features, np.float64), weights)
    return graph.apply("Add", products, graph.constant(classifier.intercept_[0] + classifier._prior_shift()))


def _tree_scores(graph: Graph, model: ComparisonModel, features: str) -> str:
    """Add up the trees in double precision, with the thresholds of LightGBM as they are."""
    classifier: Any = model.classifier
    trees = classifier.model_.trees()
    sets = category_sets(trees)
    inputs = graph.cast(features, np.float64)
    n_features = classifier.n_features_in_
    columns = [inputs, *(_outside(graph, inputs, column, masks) for column, masks in sets.items())]
    if len(columns) > 1:
        inputs = graph.apply("Concat", *columns, axis=1)
    attributes = tree_attributes(trees, n_features, sets)
    sums = graph.apply("TreeEnsembleRegressor", inputs, domain=_TREES_DOMAIN, **attributes)
    started = graph.apply(
        "Add", graph.cast(sums, np.float64), graph.constant(classifier.start_[0] + classifier.offset_)
    )
    scaled = graph.apply("Div", started, graph.constant(classifier.temperature_))
    return graph.apply("Add", scaled, graph.constant(classifier._prior_shift()))


def _outside(graph: Graph, inputs: str, column: int, masks: NDArray[np.bool_]) -> str:
    """Return 1 where a category is outside of a set, else 0: a column for each of the sets of a feature.

    ``masks`` (sets, categories) has the members of each set. Missing values and other categories are in none.
    """
    n_categories = masks.shape[1]
    values = graph.apply("Gather", inputs, graph.constant([column], np.int64), axis=1)
    other = graph.constant(n_categories, np.int64)
    known = graph.apply("Where", graph.apply("IsNaN", values), graph.constant(n_categories), values)
    numbers = graph.cast(graph.apply("Clip", known, graph.constant(-1), graph.constant(n_categories)), np.int64)
    is_negative = graph.apply("Less", numbers, graph.constant(0, np.int64))
    rows = graph.apply("Reshape", graph.apply("Where", is_negative, other, numbers), graph.constant([-1], np.int64))
    table = np.vstack([~masks.T, np.ones(len(masks), dtype=bool)])
    return graph.apply("Gather", graph.constant(table), rows, axis=0)


def _add_outputs(graph: Graph, model: ComparisonModel, scores: str, outputs: tuple[str, ...]) -> None:
    """Turn scores of shape (n, 1) into the outputs of the link."""
    flat = graph.apply("Reshape", scores, graph.constant([-1], np.int64))
    if model.link.has_classes:
        graph.cast(graph.apply("Sigmoid", flat), np.float32, output=outputs[0])
        return
    unit = graph.constant(model.in_units(np.ones(1)))
    graph.cast(graph.apply("Mul", flat, unit), np.float32, output=outputs[0])
    if len(outputs) > 1:
        reference = graph.constant(model.classifier.reference_scores_[None])
        wins = graph.apply("Sigmoid", graph.apply("Sub", scores, reference))
        means = graph.apply("ReduceMean", wins, graph.constant([1], np.int64), keepdims=0)
        graph.cast(means, np.float32, output=outputs[1])
