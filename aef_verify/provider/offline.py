"""Which addresses a client may use offline: those of this machine's loopback, told before any socket opens."""

from __future__ import annotations

import ipaddress
import socket

from aef_verify.problems import InputError

_LOOPBACK_4 = ipaddress.IPv4Network("127.0.0.0/8")
_LOOPBACK_6 = ipaddress.IPv6Address("::1")


def check_offline(url: str) -> None:
    """Refuse every URL whose host is no loopback address and not `localhost`; looks no other name up.

    Raises:
        InputError: the host is another one, or the URL is none.
    """
    from aef_verify.provider.address import parse_url

    host = parse_url(url).raw_host.decode("ascii")
    if not (is_loopback(host) or (host.lower() == "localhost" and _is_ours())):
        raise InputError(f"{host}: not an address of this machine's loopback, and --offline allows no other")


def is_loopback(host: str) -> bool:
    """Whether a host is a literal address in 127.0.0.0/8, or ::1."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address in _LOOPBACK_4 if isinstance(address, ipaddress.IPv4Address) else address == _LOOPBACK_6


def _is_ours() -> bool:
    """Whether this machine takes `localhost` for its loopback, and for nothing else."""
    try:
        found = socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(is_loopback(str(address[0])) for *_, address in found)
