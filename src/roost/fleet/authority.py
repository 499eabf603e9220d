"""The fleet's certificates: one authority, made at the first start, and what it signs.

The certificate of the gateway and those of the nodes name their role as a URI. Each side checks the
role of the other, because all of them are signed by the same authority. Users have no certificates.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from roost.errors import BadRequest, Unauthorized
from roost.local.home import read_secret, write_secret

GATEWAY = "roost-fleet:gateway"
NODE = "roost-fleet:node/"
MACHINE = "roost-fleet:machine"
YEARS = 10
_EARLY = timedelta(minutes=5)
"""Clocks of two machines may differ by this much."""


def node_host(node: str) -> str:
    """Return the name in a node's certificate, by which the gateway knows the node's door.

    Nodes have no names that all machines can resolve, and their addresses may change.
    """
    return f"{node}.node.roost.invalid"


class Authority:
    """The fleet's certificate authority. Only the gateway's machine has its key."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self._certificate = certificate
        self._key = key

    @classmethod
    def of(cls, folder: Path) -> Authority:
        """Return the authority whose files lie in the folder, made if there is none."""
        kept, certificate = read_secret(folder / "ca.key"), read_secret(folder / "ca.pem")
        if kept is not None and certificate is not None:
            key = serialization.load_pem_private_key(kept, None)
            assert isinstance(key, ec.EllipticCurvePrivateKey)
            return cls(x509.load_pem_x509_certificate(certificate), key)
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Roost fleet")])
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        builder = (
            _builder(name, key.public_key())
            .issuer_name(name)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
        )
        made = cls(builder.sign(key, hashes.SHA256()), key)
        write_secret(folder / "ca.key", _key_pem(key))
        write_secret(folder / "ca.pem", made.pem)
        return made

    @property
    def pem(self) -> bytes:
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.pem)

    def sign_gateway(self, folder: Path, names: Iterable[str]) -> None:
        """Write a new key and certificate for the gateway, good for those host names."""
        key = ec.generate_private_key(ec.SECP256R1())
        hosts = [_general_name(name) for name in dict.fromkeys(names)]
        pem = self._signed(key.public_key(), "Roost gateway", GATEWAY, hosts)
        write_secret(folder / "gateway.pem", _key_pem(key) + pem + self.pem)

    def sign_node(self, node: str, request: bytes) -> bytes:
        """Return the certificate for a node's key.

        Takes nothing but the key from the request. Raises ``BadRequest`` if the request's signature
        is wrong.
        """
        hosts = [x509.DNSName(node_host(node))]
        return self._signed(_requested_key(request), "Roost node", NODE + node, hosts)

    def sign_machine(self, address: str, request: bytes) -> bytes:
        """Return the certificate for a machine's key that names the machine's address.

        Only the authority of Ray's cluster signs these: clients of the gateway trust the fleet's.
        Raises ``BadRequest`` if the request or the address is wrong.
        """
        try:
            host = x509.IPAddress(ipaddress.ip_address(address))
        except ValueError:
            raise BadRequest("host: not an address.", field="host") from None
        hosts = [host, x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        return self._signed(_requested_key(request), "Roost machine", MACHINE, hosts)

    def _signed(
        self,
        key: ec.EllipticCurvePublicKey,
        name: str,
        role: str,
        hosts: Iterable[x509.GeneralName],
    ) -> bytes:
        alternatives = [*hosts, x509.UniformResourceIdentifier(role)]
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = (
            _builder(subject, key)
            .issuer_name(self._certificate.subject)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.ExtendedKeyUsage(both), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM)


def certificate_request() -> tuple[bytes, bytes]:
    """Return a new key and the request for its certificate. The key never leaves the machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    request = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Roost node")]))
        .sign(key, hashes.SHA256())
    )
    return _key_pem(key), request.public_bytes(serialization.Encoding.PEM)


def _requested_key(request: bytes) -> ec.EllipticCurvePublicKey:
    try:
        asked = x509.load_pem_x509_csr(request)
        key = asked.public_key()
    except ValueError:
        raise BadRequest("request: not a certificate request.", field="request") from None
    if not asked.is_signature_valid or not isinstance(key, ec.EllipticCurvePublicKey):
        raise BadRequest("request: not a certificate request.", field="request")
    return key


def fingerprint(pem: bytes) -> str:
    """Return the SHA-256 of a certificate, in the form that tokens carry."""
    try:
        certificate = x509.load_pem_x509_certificate(pem)
    except ValueError:
        raise Unauthorized("The gateway's authority is not a certificate.") from None
    digest = hashlib.sha256(certificate.public_bytes(serialization.Encoding.DER)).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def server_context(identity: Path, authority: Path | None) -> ssl.SSLContext:
    """Return the context of a server with that key and certificate.

    authority: who must have signed the certificates of clients, or None to ask for none.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(identity)
    if authority is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority)
    return context


def client_context(authority: Path | str, identity: Path | None = None) -> ssl.SSLContext:
    """Return the context of a client that trusts that authority only.

    authority: a file, or the certificate's text.
    identity: the key and certificate to show, if the server asks for one.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if isinstance(authority, Path):
        context.load_verify_locations(authority)
    else:
        context.load_verify_locations(cadata=authority)
    if identity is not None:
        context.load_cert_chain(identity)
    return context


def role_of(transport: Any) -> str:
    """Return the role that the verified certificate of the other side names, or an empty string."""
    found = transport.get_extra_info("peercert") or {}
    roles = [value for kind, value in found.get("subjectAltName", ()) if kind == "URI"]
    return roles[0] if len(roles) == 1 else ""


def _builder(subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLY)
        .not_valid_after(now + timedelta(days=365 * YEARS))
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
