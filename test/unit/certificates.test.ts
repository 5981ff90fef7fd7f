import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeAuthority } from '../../core/certificate/make-authority.ts'
import { openAuthority } from '../../core/certificate/open-authority.ts'
import {
  type CaRefusal,
  type CaStep,
  type Rotated,
  rotateAuthority,
} from '../../admin/certificates/rotate-authority.ts'
import {
  type SealedAuthority,
  storedAuthority,
  type StoredAuthority,
} from '../../core/certificate/stored-authority.ts'
import { readIssuer } from '../../core/certificate/read-issuer.ts'
import { writeCertificate } from '../../core/certificate/write-certificate.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const NOW = Date.now()
const DAY_MS = 86_400_000
const files = makeAuthority(NOW)
const authority = openAuthority(files)

function serverCertificate(host: string): string {
  return writeCertificate({
    subject: 'a server',
    public_key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
    issuer: readIssuer(new X509Certificate(files.certificate).raw),
    issuer_key: createPrivateKey(files.key),
    not_before_ms: NOW - DAY_MS,
    not_after_ms: NOW + DAY_MS,
    host,
  })
}

test('OpenSSL accepts an issued certificate by the strict rules, as that of a server alone', () => {
  const { chain } = authority.issue('api.example.com', NOW)
  const folder = tempFolder('certificates')
  const [ca, leaf] = [join(folder, 'ca.pem'), join(folder, 'leaf.pem')]
  writeFileSync(ca, files.certificate)
  writeFileSync(leaf, chain)
  const verify = (...more: readonly string[]): string =>
    execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', ca, ...more, leaf], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  assert.match(verify('-purpose', 'sslserver', '-verify_hostname', 'api.example.com'), /: OK/)
  assert.throws(() => verify('-purpose', 'sslclient'))
  assert.throws(() => verify('-verify_hostname', 'example.com'))
  for (const host of ['127.0.0.1', '2001:db8::1']) {
    writeFileSync(leaf, serverCertificate(host))
    assert.match(verify('-purpose', 'sslserver', '-verify_ip', host), /: OK/)
    assert.throws(() => verify('-verify_ip', '127.0.0.2'))
  }
})

test('an issued certificate has one name, is no CA and ends within seven days', () => {
  for (const host of ['api.example.com', 'x', '_dmarc.example.com', `${'a.'.repeat(120)}com`]) {
    const { chain, key, not_after_ms } = authority.issue(host, NOW)
    const leaf = new X509Certificate(chain)
    assert.equal(leaf.subjectAltName, `DNS:${host}`)
    assert.equal(leaf.ca, false)
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    assert.ok(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom) <= 7 * DAY_MS)
    assert.ok(Math.abs(Date.parse(leaf.validTo) - not_after_ms) < 1_000)
    assert.ok(leaf.verify(new X509Certificate(files.certificate).publicKey))
    assert.match(key, /^-----BEGIN PRIVATE KEY-----/)
    assert.match(leaf.serialNumber, /^[4-7][0-9A-F]{31}$/)
  }
})

test('what is no DNS name in lower case gets no certificate', () => {
  const names = ['', '-', '127.0.0.1', '::1', 'API.example.com', '*.example.com', 'a..b', 'a.']
  const more = ['a b', 'a\0b', 'ä.example', `${'a'.repeat(64)}.com`, 'a.'.repeat(127), 'a/b']
  for (const name of [...names, ...more])
    assert.throws(() => authority.issue(name, NOW), /not a DNS name/, JSON.stringify(name))
})

test('a CA of its own signs certificates and no further CA', () => {
  const ca = new X509Certificate(files.certificate)
  assert.equal(ca.ca, true)
  assert.ok(ca.checkIssued(ca))
  const text = execFileSync('openssl', ['x509', '-noout', '-text'], {
    input: files.certificate,
    encoding: 'utf8',
  })
  assert.match(text, /CA:TRUE, pathlen:0/)
  assert.match(text, /Certificate Sign, CRL Sign/)
  assert.notEqual(ca.subject, new X509Certificate(makeAuthority(NOW).certificate).subject)
})

test('a certificate does not outlive its CA, and may be issued by another CA, of RSA too', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const ends_ms = NOW + DAY_MS
  const order = { issuer: null, issuer_key: privateKey, host: null, public_key: publicKey }
  const validity = { not_before_ms: NOW - DAY_MS, not_after_ms: ends_ms }
  const certificate = writeCertificate({ ...order, ...validity, subject: 'Example CA' })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { chain } = openAuthority({ certificate, key }).issue('a.test', NOW)
  const leaf = new X509Certificate(chain)
  assert.ok(leaf.verify(publicKey))
  assert.equal(leaf.issuer, 'CN=Example CA')
  assert.ok(Math.abs(Date.parse(leaf.validTo) - ends_ms) < 1_000)
})

test('a CA that cannot be used is refused with a sentence', () => {
  const { chain, key } = authority.issue('a.test', NOW)
  const rows: readonly (readonly [RegExp, { certificate: string; key: string }])[] = [
    [/no certificate/, { ...files, certificate: 'none' }],
    [/not that of a CA/, { certificate: chain, key }],
    [/not that of the first/, { ...files, key }],
    [/cannot be read/, { ...files, key: 'none' }],
  ]
  for (const [message, given] of rows) assert.throws(() => openAuthority(given), message)
})

test('the key of the CA is stored encrypted, and opens only with its own ring', () => {
  const [ring, other] = [0, 1].map(() => parseKeyRing(randomBytes(32).toString('base64')))
  assert.ok(ring !== undefined && other !== undefined)
  const text = storedAuthority.seal(ring, files)
  assert.ok(!text.includes('PRIVATE KEY'))
  assert.deepEqual(storedAuthority.open(ring, text), files)
  assert.equal(storedAuthority.open(other, text), null)
  const both = { primary_id: other.primary_id, keys: new Map([...other.keys, ...ring.keys]) }
  const resealed = storedAuthority.reseal(both, text)
  assert.deepEqual(storedAuthority.open(other, resealed ?? ''), files)
  assert.equal(storedAuthority.reseal(other, text), null)
})

test('a rotation of the CA is taken step by step, and forgets the key that it replaces', () => {
  const ring = parseKeyRing(randomBytes(32).toString('base64'))
  const sealed = (name: string): SealedAuthority => ({
    certificate: `${name} certificate`,
    sealed_key: `${name} key`,
  })
  const since = '2026-01-01T00:00:00.000Z'
  const [one, two] = [sealed('one'), sealed('two')]
  const rotate = (stored: StoredAuthority, step: CaStep): Rotated =>
    rotateAuthority(stored, step, { make: () => two, since })
  const prepared: StoredAuthority = { ...one, next: two, since }
  const activated: StoredAuthority = { ...two, previous: one.certificate, since }
  const rows: readonly (readonly [
    StoredAuthority,
    CaStep,
    StoredAuthority | CaRefusal,
    boolean?,
  ])[] = [
    [one, 'prepare', prepared, false],
    [one, 'activate', 'no_next_ca'],
    [one, 'finish', 'no_previous_ca'],
    [one, 'replace', two, true],
    [prepared, 'prepare', 'rotation_in_progress'],
    [prepared, 'activate', activated, true],
    [prepared, 'finish', 'no_previous_ca'],
    [prepared, 'replace', two, true],
    [activated, 'prepare', 'rotation_in_progress'],
    [activated, 'activate', 'no_next_ca'],
    [activated, 'finish', two, false],
    [activated, 'replace', two, true],
  ]
  for (const [stored, step, expected, is_reissued = false] of rows)
    assert.deepEqual(
      rotate(stored, step),
      typeof expected === 'string'
        ? { kind: 'refused', reason: expected }
        : { kind: 'rotated', stored: expected, is_reissued },
      step,
    )
  const [first, second] = [makeAuthority(Date.now()), makeAuthority(Date.now())]
  const both = JSON.stringify({
    ...storedAuthority.sealKey(ring, first),
    next: storedAuthority.sealKey(ring, second),
  } satisfies StoredAuthority)
  assert.ok(!both.includes('PRIVATE KEY'))
  assert.equal(storedAuthority.trusted(both), first.certificate + second.certificate)
  assert.deepEqual(storedAuthority.open(ring, both), first)
  // A rotation of the encryption key takes both.
  const newer = parseKeyRing(randomBytes(32).toString('base64'))
  const rings = { primary_id: newer.primary_id, keys: new Map([...newer.keys, ...ring.keys]) }
  const resealed = storedAuthority.reseal(rings, both) ?? ''
  assert.deepEqual(storedAuthority.open(newer, resealed), first)
  const { next } = storedAuthority.parse(resealed)
  assert.deepEqual(storedAuthority.open(newer, JSON.stringify(next)), second)
  assert.equal(storedAuthority.sealed(resealed).length, 2)
})
