"""What pods of a real node reach of this machine: the least of a Service.

A relay listens where they see this machine (real_node.GATEWAY), on a port of its own, and hands each connection on to
where() -> (host, port), which is asked anew each time, for pods come and go. A connection for which there is none is closed."""

import socket
import threading

from .real_node import GATEWAY

IP_FREEBIND = 15  # the address is there as soon as there is a pod


class Relay:
    def __init__(self, port, where):
        self.port, self.where = port, where
        self.listener = socket.socket()
        self.listener.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((GATEWAY, port))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def end(self):
        """What is under way ends with its ends."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # end()
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client):
        try:
            server = socket.create_connection(self.where(), timeout=10)
        except (OSError, LookupError):
            client.close()
            return
        server.settimeout(None)
        back = threading.Thread(target=_pour, args=(server, client), daemon=True)
        back.start()
        _pour(client, server)
        back.join()
        client.close()
        server.close()


def _pour(source, sink):
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # One of them is gone: the other is not to wait for what cannot come.
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
