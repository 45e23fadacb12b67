import { isIP, isIPv6 } from 'node:net'

const GROUPS = 8
const NO_ADDRESS = 'none'
/** The network that translates to IPv4 (RFC 6052): by /64 it would all count as one caller. */
const NAT64 = '64:ff9b:0:0:0:0'

/**
 * The group by which an address is counted: for IPv6 the /64, because one host has a whole network to choose from. Every spelling of an
 * address has the same group; one that carries an IPv4 address has that address's group. All text that is no address is one group:
 * otherwise a proxy that writes other text would give each request a separate group.
 */
export function addressGroup(text: string): string {
  const ip = addressIn(text)
  if (ip === null) return NO_ADDRESS
  if (!ip.includes(':')) return ip
  const plain = ip.split('%', 1)[0] ?? ''
  const parts = partsOf(plain)
  const front = parts.slice(0, 6).join(':')
  if (front === '0:0:0:0:0:ffff' || front === NAT64) return dotted(parts.slice(6))
  return parts.slice(0, 4).join(':')
}

/** The address without the port that some proxies add (`192.0.2.7:4711`, `[2001:db8::7]:4711`). Null if there is none. */
export function addressIn(text: string): string | null {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1]
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : null
  const ip = /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
  return isIP(ip) === 0 ? null : ip
}

/** The address in its one spelling, an IPv4 address that IPv6 carries as that address. Empty for text that is no address. */
export function canonicalAddress(text: string): string {
  const ip = addressIn(text) ?? ''
  if (!ip.includes(':')) return ip
  const group = addressGroup(ip)
  if (!group.includes(':')) return group
  const [plain = '', zone] = ip.split('%', 2)
  const shortest = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  return zone === undefined ? shortest : `${shortest}%${zone}`
}

/** The network of an address: for IPv4 the /24, for IPv6 the /48. */
export function networkGroup(ip: string): string {
  const group = addressGroup(ip)
  const separator = group.includes(':') ? ':' : '.'
  return group.split(separator).slice(0, 3).join(separator)
}

/** The eight groups in their shortest spelling. */
function partsOf(ip: string): readonly string[] {
  const [head = '', tail] = hex(ip).split('::')
  const [front, back] = [groupsOf(head), groupsOf(tail ?? '')]
  const missing = GROUPS - front.length - back.length
  return [...front, ...Array<string>(missing).fill('0'), ...back]
}

function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16).toString(16))
}

/** The last 32 bits may be written as IPv4. */
function hex(ip: string): string {
  return ip.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
}

function dotted(groups: readonly string[]): string {
  return groups
    .map(group => Number.parseInt(group, 16))
    .flatMap(bits => [bits >> 8, bits & 255])
    .join('.')
}
