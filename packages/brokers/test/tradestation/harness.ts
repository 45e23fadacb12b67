/** TradeStation's adapter at the sandbox that emulates TradeStation. */

import { type TradestationSettings, tradestation } from '../../src/tradestation/definition.ts'
import { HEARTBEAT_MS } from '../sandbox/sandbox-process.ts'
import { systemClock } from '../support/clocks.ts'
import type { DialectBroker } from '../support/dialect-harness.ts'
import { isRecord } from '../support/endless.ts'

/** Often, so that a lost line is noticed within a case's time limit. */
const COMPARE_MS = 1_000

export function settingsAt(
  url: string,
  publicUrl: string,
  client: Pick<TradestationSettings, 'clientId' | 'clientSecret'>,
  heartbeatMs = HEARTBEAT_MS
): TradestationSettings {
  return {
    ...client,
    environment: 'sandbox',
    apiUrl: `${url}/tradestation/v3`,
    authorizeUrl: `${publicUrl}/tradestation/authorize`,
    oauthUrl: `${url}/tradestation/oauth`,
    // The silence of a busy machine is not the broker's.
    heartbeatMs: heartbeatMs * 3,
    compareMs: COMPARE_MS,
    hours: 'always',
    plain: true
  }
}

export const TRADESTATION: DialectBroker = {
  name: 'tradestation',
  define: ({ url, publicUrl, clientId, clientSecret }, deps) => tradestation(settingsAt(url, publicUrl, { clientId, clientSecret }), deps),
  clock: systemClock,
  accounts: [
    { kind: 'margin', cash: '100000' },
    { kind: 'futures', cash: '1000000' }
  ],
  accountOf: ({ number, kind }) => (kind === 'coin' ? null : number),
  ids: 'digits',
  path: (on, account) => `/tradestation/v3/brokerage/accounts/${account}/${on}`,
  authorize: ({ access_token: token }) => ({ authorization: `Bearer ${token}` }),
  // The list of today and that of the past; an order is looked for in both.
  throttledSubmit: 'refused',
  endless: () => answer => (isRecord(answer) && 'Orders' in answer ? { ...answer, NextToken: 'again' } : answer),
  patienceMs: 20_000,
  unknownOrderId: '999999999999999'
}
