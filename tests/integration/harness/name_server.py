"""A name server of one name: what a headless Service is to its callers."""

import socket
import struct
import threading

_FLAGS = 0x8400  # a response, with authority
_A, _INTERNET = 1, 1
_NAME_OF_QUESTION = 0xC00C  # a pointer to it


class NameServer:
    """Answers every question for IPv4 addresses with `addresses`, which may be
    exchanged at any time; other questions with nothing. Answers are not to be
    kept."""

    def __init__(self, addresses=()):
        self.addresses = list(addresses)
        self.num_questions = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", ("127.0.0.1", self.port))
        self._thread.join()
        self._socket.close()

    def _run(self):
        while True:
            message, sender = self._socket.recvfrom(4096)
            if not message:
                return
            self._socket.sendto(self._answer(message), sender)

    def _answer(self, message):
        end = message.index(b"\0", 12) + 1  # of the name, which is never short
        question = message[12:end + 4]
        kind, = struct.unpack_from("!H", message, end)
        addresses = self.addresses if kind == _A else []
        if kind == _A:
            self.num_questions += 1
        header = message[:2] + struct.pack(
            "!HHHHH", _FLAGS, 1, len(addresses), 0, 0)
        return header + question + b"".join(
            struct.pack("!HHHIH", _NAME_OF_QUESTION, _A, _INTERNET, 0, 4)
            + socket.inet_aton(address) for address in addresses)
