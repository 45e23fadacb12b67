import type { OrderId } from '../../domain/ids.ts'
import type { BrokerCapabilities } from '../../ports/broker.ts'
import type { Hasher } from '../../ports/vault.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The client order id a broker sees: 128 bits that follow from the order's id and the instance's key. The same order always gives the same
 * text, so that it can be found again; no other party can make it.
 */
export function brokerClOrdIdOf(hasher: Hasher, orderId: OrderId, { lengthMax, alphabet }: BrokerCapabilities['brokerClOrdId']): string {
  const hex = Buffer.from(hasher.derive(`order ${orderId}`).subarray(0, 16)).toString('hex')
  if (alphabet === 'uuid') return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  let rest = BigInt(`0x${hex}`)
  let text = ''
  for (; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(22, '0').slice(-lengthMax)
}
