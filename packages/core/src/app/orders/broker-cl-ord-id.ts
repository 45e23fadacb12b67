import type { OrderId } from '../../domain/ids.ts'
import type { BrokerCapabilities } from '../../ports/broker.ts'
import type { Hasher } from '../../ports/vault.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The client order id sent to the broker: 128 bits derived from the order's id and the instance's key. It is the same each time, so that
 * the order can be found by it, and cannot be predicted by others.
 */
export function brokerClOrdIdOf(hasher: Hasher, orderId: OrderId, { lengthMax, alphabet }: BrokerCapabilities['brokerClOrdId']): string {
  const hex = Buffer.from(hasher.derive(`order ${orderId}`).subarray(0, 16)).toString('hex')
  if (alphabet === 'uuid') return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  let rest = BigInt(`0x${hex}`)
  let text = ''
  for (; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(22, '0').slice(-lengthMax)
}
