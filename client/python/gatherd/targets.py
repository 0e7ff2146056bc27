"""Which servers an address names, as gRPC is told."""

import ipaddress
from typing import NamedTuple


class Target(NamedTuple):
    name: str  # what gRPC resolves
    is_several: bool  # stands for several servers that have the same tables


def _is_ip_and_port(text: str, is_ipv6: bool) -> bool:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 2**16:
        return False
    try:
        if not is_ipv6:
            ipaddress.IPv4Address(host)
        elif not (host.startswith("[") and host.endswith("]")):
            return False
        else:
            ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return True


def _parse_list(addresses: str) -> Target:
    for scheme in ("ipv4:", "ipv6:"):
        if addresses.startswith(scheme):
            addresses = addresses[len(scheme):]
            break
    is_ipv6 = addresses.startswith("[")
    for part in addresses.split(","):
        if not _is_ip_and_port(part, is_ipv6):
            raise ValueError(
                f'address is a list with "{part}" in it; a list is of '
                "IP:PORT, all IPv4 or all IPv6, and a name of several servers "
                "is dns:///NAME:PORT")
    return Target(("ipv6:" if is_ipv6 else "ipv4:") + addresses, True)


def parse_address(address: str) -> Target:
    """ValueError if it is empty, or is a list (IP:PORT,IP:PORT,...) with
    something else in it."""
    if not address:
        raise ValueError("address is empty")
    if "," in address and not address.startswith("unix:"):
        return _parse_list(address)
    return Target(address, address.startswith("dns:"))
