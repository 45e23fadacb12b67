/** Where Alpaca keeps the market data of a kind of instrument. */

import type { Instrument } from '@trunkline/core/domain/vocabulary'

export function rootOf(instrument: Instrument): string {
  switch (instrument) {
    case 'CRYPTO':
      return '/v1beta3/crypto/us'
    case 'OPT':
      return '/v1beta1/options'
    default:
      return '/v2/stocks'
  }
}
