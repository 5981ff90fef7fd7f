/**
 * Addresses at which clouds serve credentials of the machine, as ranges. No setting allows them: an operator who allows a
 * private network does not mean these. Each IPv4 address is also listed in the IPv6 addresses that embed it.
 */
const METADATA_V4 = [
  '169.254.169.254', // AWS, Azure, Google Cloud, OpenStack and others
  '169.254.170.2', // AWS ECS
  '169.254.170.23', // AWS EKS
  '169.254.0.23', // Tencent Cloud
  '169.254.42.42', // Scaleway
  '168.63.129.16', // Azure
  '100.100.100.200', // Alibaba Cloud
  '100.96.0.96', // Volcano Engine
  '192.0.0.192', // Oracle Cloud
]

const METADATA_V6 = [
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS EKS
  'fd20:ce::254', // Google Cloud
  'fd00:42::42', // Scaleway
  'fe80::a9fe:a9fe', // OpenStack
]

export const METADATA_RANGES: readonly string[] = [
  ...METADATA_V4.map((address) => `${address}/32`),
  ...METADATA_V6.map((address) => `${address}/128`),
  ...METADATA_V4.flatMap(rangesInV6),
]

/** IPv6 prefixes that embed an IPv4 address (RFC 4291, 6052, 6145, 3056, 8215). */
function rangesInV6(address: string): readonly string[] {
  const [a, b, c, d] = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
  const high = `${a}${b}`
  const low = `${c}${d}`
  return [
    `::ffff:${high}:${low}/128`, // IPv4-mapped
    `::${high}:${low}/128`, // IPv4-compatible
    `::ffff:0:${high}:${low}/128`, // IPv4-translated
    `64:ff9b::${high}:${low}/128`, // NAT64
    `64:ff9b:1::${high}:${low}/128`, // NAT64 for local use, as a /96
    `64:ff9b:1:${high}:${c}:${d}00::/88`, // the same as a /48
    `2002:${high}:${low}::/48`, // 6to4
  ]
}
