/** What stands for an address when it is counted: of IPv6 the network, since one host has a whole network to choose from. */
export function addressGroup(ip: string): string {
  if (!ip.includes(':')) return ip
  if (ip.startsWith('::ffff:') && ip.includes('.')) return ip.slice('::ffff:'.length)
  const [head = '', tail] = ip.split('::')
  const front = head.split(':').filter(part => part !== '')
  const missing = tail === undefined ? 0 : 8 - front.length - tail.split(':').filter(part => part !== '').length
  return [...front, ...Array<string>(missing).fill('0'), ...(tail?.split(':') ?? [])].slice(0, 4).join(':')
}
