package irctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// An Authority issues certificates for a test.
type Authority struct {
	File string // the authority's certificate, as PEM

	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// A Certificate describes a certificate issued by an [Authority].
type Certificate struct {
	File, KeyFile string // PEM
	Fingerprint   string // SHA-256 of the certificate, in hexadecimal, as services accept it
}

// NewAuthority creates an authority that no program trusts yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir()}
	a.cert = &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	own := a.issue("authority", a.cert, nil)
	a.File = own.File
	return a
}

// Issue issues a certificate that is valid for the server 127.0.0.1 and for clients.
func (a *Authority) Issue(name string) Certificate {
	a.t.Helper()
	return a.issue(name, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.key)
}

// Expired issues a certificate for this machine that expired an hour ago.
func (a *Authority) Expired(name string) Certificate {
	a.t.Helper()
	return a.issue(name, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.key)
}

// issue signs a certificate with the key by, or with the certificate's own key if by is
// nil.
func (a *Authority) issue(name string, cert *x509.Certificate, by *ecdsa.PrivateKey) Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if by == nil {
		a.key, by = key, key
	}
	if cert.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		a.t.Fatal(err)
	}
	if cert.NotAfter.IsZero() {
		cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, key.Public(), by)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	sum := sha256.Sum256(der)
	c := Certificate{File: filepath.Join(a.dir, name+".pem"), KeyFile: filepath.Join(a.dir, name+"-key.pem"), Fingerprint: hex.EncodeToString(sum[:])}
	writeFile(a.t, c.File, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeFile(a.t, c.KeyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return c
}
