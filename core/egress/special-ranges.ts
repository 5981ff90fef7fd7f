/**
 * Addresses that no integration, webhook or token URL may resolve to: everything that is not a public unicast address, and the
 * ranges that carry an IPv4 address inside an IPv6 one, which the IPv4 ranges would not match.
 * Sources: the IANA special-purpose address registries for IPv4 and IPv6.
 */
export const SPECIAL_RANGES: readonly string[] = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the metadata and DNS address of one cloud, public by number only
  '169.254.0.0/16', // link-local, metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/3', // multicast, reserved, broadcast
  // Of IPv6 only 2000::/3 is global unicast. The three ranges around it hold ::, ::1, IPv4-mapped and IPv4-translated
  // addresses, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard, unique-local, link-local and multicast.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23', // protocol assignments, among them Teredo and ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address inside
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]
