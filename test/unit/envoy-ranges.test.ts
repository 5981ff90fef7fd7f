import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { METADATA_RANGES } from '../../core/egress/metadata-ranges.ts'
import { refusedRanges } from '../../envoy/refused-ranges.ts'
import { subtractRanges } from '../../envoy/subtract-ranges.ts'
import { repetitions } from '../kit/repetitions.ts'

type Cidr = ReturnType<typeof ipaddr.parseCIDR>

const parsed = new Map<string, Cidr>()
const parseOnce = (range: string): Cidr => {
  const known = parsed.get(range) ?? ipaddr.parseCIDR(range)
  parsed.set(range, known)
  return known
}

const covers = (ranges: readonly string[], address: string): boolean => {
  const one = ipaddr.parse(address)
  return ranges.some((range) => {
    const [network, length] = parseOnce(range)
    return network.kind() === one.kind() && one.match([network, length] as never)
  })
}

const v4 = fc
  .tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
  .map((bytes) => bytes.join('.'))
const v6 = fc
  .array(fc.nat(0xffff), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((group) => group.toString(16)).join(':'))
const cidr = fc.oneof(
  fc.tuple(v4, fc.nat(32)).map(([address, length]) => `${address}/${length}`),
  fc.tuple(v6, fc.nat(128)).map(([address, length]) => `${address}/${length}`),
)
const ranges = fc.array(cidr, { maxLength: 5 })

test('an address is refused exactly when a range has it and no hole does', () => {
  fc.assert(
    fc.property(ranges, ranges, fc.oneof(v4, v6), (denied, holes, address) => {
      const rest = subtractRanges(denied, holes)
      assert.equal(covers(rest, address), covers(denied, address) && !covers(holes, address))
    }),
    { numRuns: repetitions(300) },
  )
})

test('a hole is cut out of the middle of a range and its edges stay', () => {
  const rest = subtractRanges(['10.0.0.0/8'], ['10.1.2.0/24'])
  for (const address of ['10.1.1.255', '10.1.3.0', '10.0.0.0', '10.255.255.255'])
    assert.equal(covers(rest, address), true, address)
  for (const address of ['10.1.2.0', '10.1.2.255', '11.0.0.0'])
    assert.equal(covers(rest, address), false, address)
  assert.deepEqual(subtractRanges(['10.0.0.0/8', '127.0.0.0/8'], ['0.0.0.0/0']), [])
  assert.deepEqual(subtractRanges(['::/3'], ['10.0.0.0/8']), ['::/3'])
})

test('every special address is refused, and public ones are not', () => {
  const refused =
    '0.0.0.0 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:7f00:1 ::7f00:1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2620:4f:8000::1 3fff::1 fc00::1 fd00::1 fe80::1 fec0::1 ff02::1 5f00::1'
  const open =
    '1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 168.63.129.17 192.169.0.1 198.17.255.255 198.20.0.1 223.255.255.255 2001:200::1 2606:4700::1111 2a00:1450::1 2003::1 3ffe::1'
  const ranges = refusedRanges([])
  for (const address of refused.split(' ')) assert.equal(covers(ranges, address), true, address)
  for (const address of open.split(' ')) assert.equal(covers(ranges, address), false, address)
})

test('the gateway itself never connects where Envoy may not, whatever is allowed', () => {
  fc.assert(
    fc.property(ranges, fc.oneof(v4, v6), (allowed, address) => {
      if (covers(refusedRanges(allowed), address))
        assert.notEqual(new AddressPolicy(allowed).refusalOfAddress(address), null)
    }),
    { numRuns: repetitions(400) },
  )
})

/** Addresses at both ends of the ranges that Envoy refuses, and next to them. */
const ends = refusedRanges([]).flatMap((range) => {
  const [network, length] = parseOnce(range)
  const bytes = network.toByteArray()
  const size = 1n << BigInt(bytes.length * 8 - length)
  const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  const all = 1n << BigInt(bytes.length * 8)
  return [first - 1n, first, first + size - 1n, first + size]
    .filter((address) => address >= 0n && address < all)
    .map((address) => {
      const hex = address.toString(16).padStart(bytes.length * 2, '0')
      return ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toString()
    })
})

test('without an allowed range, the gateway itself refuses what Envoy refuses, and nothing else', () => {
  const ranges = refusedRanges([])
  const policy = new AddressPolicy([])
  const agree = (address: string): void =>
    assert.equal(policy.refusalOfAddress(address) !== null, covers(ranges, address), address)
  for (const address of ends) agree(address)
  fc.assert(fc.property(fc.oneof(v4, v6), agree), { numRuns: repetitions(2000) })
})

/** Each as Envoy may have it from a literal or from DNS: plain, and in every IPv6 form that carries an IPv4 address. */
const METADATA_ADDRESSES =
  '169.254.169.254 169.254.170.2 169.254.170.23 169.254.0.23 169.254.42.42 168.63.129.16 100.100.100.200 100.96.0.96 192.0.0.192 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fe80::a9fe:a9fe ::ffff:169.254.169.254 ::169.254.169.254 ::ffff:0:a9fe:a9fe 64:ff9b::a9fe:a9fe 64:ff9b::6464:64c8 64:ff9b:1::a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: 2002:a9fe:a9fe:: 2002:a9fe:a9fe::1 2002:6464:64c8::1 ::ffff:168.63.129.16 ::ffff:192.0.0.192'.split(
    ' ',
  )

/** Ranges that hold metadata addresses, as an operator may allow them for a network of their own. */
const ALLOWED: readonly (readonly string[])[] = [
  ['169.254.0.0/16'],
  ['169.254.169.254/32'],
  ['168.0.0.0/8'],
  ['100.64.0.0/10'],
  ['192.0.0.0/24'],
  ['0.0.0.0/0'],
  ['fd00::/8'],
  ['fd00:ec2::/32'],
  ['fe80::/10'],
  ['64:ff9b::/96', '64:ff9b:1::/48'],
  ['2002::/16'],
  ['::ffff:0:0/96'],
  ['::/0'],
  ['0.0.0.0/0', '::/0'],
  METADATA_RANGES,
]

for (const allowed of ALLOWED)
  test(`a range that holds a metadata address does not open it: ${allowed.slice(0, 2).join()}`, () => {
    const ranges = refusedRanges(allowed)
    const policy = new AddressPolicy(allowed)
    for (const address of METADATA_ADDRESSES) {
      assert.equal(covers(ranges, address), true, address)
      assert.equal(policy.refusalOfAddress(address), 'metadata', address)
    }
  })

test('an allowed range opens the addresses around a metadata address', () => {
  const ranges = refusedRanges(['0.0.0.0/0', '::/0'])
  const open =
    '169.254.169.253 169.254.169.255 168.63.129.15 168.63.129.17 100.100.100.201 10.0.0.1 127.0.0.1 fd00:ec2::253 fd00:ec2::255 fd00::1 ::1 64:ff9b::a9fe:a9ff 2002:a9fe:a9ff::'
  for (const address of open.split(' ')) assert.equal(covers(ranges, address), false, address)
})
