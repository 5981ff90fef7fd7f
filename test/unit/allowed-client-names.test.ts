import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasAllowedName } from '../../ext-proc/envoy/has-allowed-name.ts'

const ENVOY = 'envoy.agw.svc'
const SPIFFE = 'spiffe://mesh.example/ns/agw/sa/envoy'

/** Names in the form in which Node shows them, and whether one of the wanted names is among them. */
const ROWS: readonly (readonly [string | undefined, boolean])[] = [
  [`DNS:${ENVOY}`, true],
  [`DNS:${ENVOY.toUpperCase()}`, true],
  [`DNS:other.example, DNS:${ENVOY}`, true],
  [`URI:${SPIFFE}`, true],
  [`DNS:other.example, URI:${SPIFFE}, IP Address:10.0.0.9`, true],
  ['IP Address:10.1.2.3', true],
  ['IP Address:FD00:0:0:0:0:0:0:1', true],
  [undefined, false],
  ['', false],
  ['DNS:other.example', false],
  [`DNS:x.${ENVOY}`, false],
  [`DNS:${ENVOY}.evil.example`, false],
  ['DNS:*.agw.svc', false],
  [`URI:${SPIFFE}2`, false],
  [`URI:${SPIFFE.toUpperCase()}`, false],
  ['IP Address:10.1.2.4', false],
  // Of another kind.
  [`URI:${ENVOY}`, false],
  [`DNS:${SPIFFE}`, false],
  ['DNS:10.1.2.3', false],
  [`email:${ENVOY}`, false],
  // A name that holds the syntax of the list: Node quotes it.
  [`DNS:"evil.example, DNS:${ENVOY}"`, false],
  [`URI:"http://evil.example/, URI:${SPIFFE}"`, false],
  [`DNS:"${ENVOY}\\u0000.evil.example"`, false],
  [`othername:"x, DNS:${ENVOY}"`, false],
  [`DirName:"CN=x, DNS:${ENVOY}"`, false],
]

test('a client is accepted by a name of its certificate as a whole, of the right kind', () => {
  const wanted = [ENVOY, SPIFFE, '10.1.2.3', 'fd00::1']
  for (const [subjectAltName, isAccepted] of ROWS)
    assert.equal(hasAllowedName({ subjectAltName }, wanted), isAccepted, subjectAltName)
  assert.equal(hasAllowedName(undefined, wanted), false)
})

test('without names every certificate of the CA is accepted', () => {
  assert.equal(hasAllowedName({ subjectAltName: 'DNS:any' }, []), true)
  assert.equal(hasAllowedName({ subjectAltName: undefined }, []), true)
})
