import { BlockList, isIP, isIPv6 } from 'node:net'
import { Malformed } from '@trunkline/core/domain/malformed'
import { addressIn } from './address.ts'

/** Networks, such as `192.0.2.0/24`, `2001:db8::/32` or a single address. */
export class AddressList {
  readonly #list = new BlockList()

  /** @throws Malformed naming the item that is neither an address nor a network. */
  constructor(networks: readonly string[]) {
    for (const network of networks) this.#add(network)
  }

  includes(address: string): boolean {
    const ip = addressIn(address)
    return ip !== null && this.#list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4')
  }

  #add(network: string): void {
    const [, address = '', prefix] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(network) ?? []
    const version = isIP(address)
    const bits = version === 6 ? 128 : 32
    const length = prefix === undefined ? bits : Number(prefix)
    if (version === 0 || length > bits) throw new Malformed('address', 'an IP address or a network such as 192.0.2.0/24', network)
    this.#list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
  }
}
