// To which addresses a webhook may be sent. What is not known to be public is refused.
import { BlockList, isIP } from 'node:net'

// Every block that IANA lists as not globally reachable, and the ways to write an IPv4 address inside an IPv6 one.
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4'
]
/** All that is routed publicly; NAT64, mapped and compatible addresses, ULA, link-local and multicast are outside. */
const UNICAST_IPV6 = ['2000::/3']
/** Within it: Teredo, ORCHID and benchmarks, documentation, 6to4. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

export type AddressJudgement =
  /** Of a network that the operator allows: `http` and every port are allowed, too. */
  'allowed' | 'public' | 'refused'

/** Judges addresses, not names: what a name resolves to is judged at each attempt. */
export class PublicAddresses {
  readonly #allowed: BlockList
  readonly #allowsAny: boolean
  readonly #special = listOf([...SPECIAL_IPV4, ...SPECIAL_IPV6])
  readonly #unicast = listOf(UNICAST_IPV6)

  /** @param allowed networks such as `10.1.0.0/16`, or single addresses; the settings have checked them */
  constructor(allowed: readonly string[]) {
    this.#allowed = listOf(allowed)
    this.#allowsAny = allowed.length > 0
  }

  /** Whether there is any network besides the public one. */
  get allowsAny(): boolean {
    return this.#allowsAny
  }

  /** Anything but an IPv4 address in its usual form or an IPv6 address without a zone is refused. */
  judge(address: string): AddressJudgement {
    // A zone names an interface of this host: never a public address.
    const version = address.includes('%') ? 0 : isIP(address)
    if (version === 0) return 'refused'
    const family = version === 6 ? 'ipv6' : 'ipv4'
    if (this.#allowed.check(address, family)) return 'allowed'
    if (this.#special.check(address, family)) return 'refused'
    return version === 4 || this.#unicast.check(address, family) ? 'public' : 'refused'
  }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const isLong = isIP(address) === 6
    list.addSubnet(address, bits === undefined ? (isLong ? 128 : 32) : Number(bits), isLong ? 'ipv6' : 'ipv4')
  }
  return list
}
