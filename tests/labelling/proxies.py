"""Run nginx and Caddy with the files of deploy/, on loopback and with a certificate made for the test."""

import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
HOST = "label.example.org"
UPSTREAM = "127.0.0.1:8000"

NGINX_MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


def find_program(name):
    """Return the path of a program; a test without it is skipped."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if path is None:
        pytest.skip(f"needs the program {name}")
    return path


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def make_certificate(folder):
    """Write a certificate that signs itself, and return the paths of certificate and key."""
    certificate = folder / "certificate.pem"
    key = folder / "key.pem"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    name = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    command = [find_program("openssl"), "req", "-x509", *kind, *name, "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def nginx_command(folder, *, upstream=UPSTREAM, port=443, plain_port=80):
    """Write deploy/nginx.conf with other ports and paths, and return the command that serves it."""
    program = find_program("nginx")
    certificate, key = make_certificate(folder)
    site = (DEPLOY / "nginx.conf").read_text()
    site = re.sub(r"^ *listen \[::\].*\n", "", site, flags=re.MULTILINE)
    changes = {
        UPSTREAM: upstream,
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        f"/etc/letsencrypt/live/{HOST}/fullchain.pem": str(certificate),
        f"/etc/letsencrypt/live/{HOST}/privkey.pem": str(key),
        "/var/log/nginx/": f"{folder}/",
    }
    (folder / "site.conf").write_text(_replaced(site, changes))
    (folder / "nginx.conf").write_text(NGINX_MAIN.format(folder=folder))
    return [program, "-e", "stderr", "-p", folder, "-c", folder / "nginx.conf"]


def caddy_command(folder, *, upstream=UPSTREAM, port=443, plain_port=80):
    """Write deploy/Caddyfile with other ports and paths, and return the command that serves it."""
    program = find_program("caddy")
    certificate, key = make_certificate(folder)
    options = f"{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port {plain_port}\n\thttps_port {port}\n}}\n\n"
    changes = {
        UPSTREAM: upstream,
        f"\n{HOST} {{\n": f"\n{HOST} {{\n\ttls {certificate} {key}\n",
        "/var/log/caddy/": f"{folder}/",
    }
    (folder / "Caddyfile").write_text(options + _replaced((DEPLOY / "Caddyfile").read_text(), changes))
    return [program, "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


def _replaced(text, changes):
    """Replace texts, each of which has to occur."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


COMMANDS = {"nginx": nginx_command, "caddy": caddy_command}


@contextmanager
def running(command, ports, folder):
    """Run a server until the block ends, which begins when its ports are open."""
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    with (folder / "messages.txt").open("ab") as messages:
        process = subprocess.Popen(list(map(str, command)), stdout=messages, stderr=messages, env=os.environ | homes)
    try:
        for port in ports:
            wait_for(port, process)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_for(port, process, *, seconds=60):
    """Wait until a port of a process is open."""
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        assert process.poll() is None, f"{process.args[0]} has ended with status {process.returncode}"
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"{process.args[0]} does not listen on port {port}")
