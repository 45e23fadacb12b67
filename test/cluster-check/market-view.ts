// A user's market data, opened after a round at one node with a token of another.
import type { Chance } from '@trunkline/testkit/crash/chance'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { MarketClient } from '../acceptance/market-client.ts'
import { must } from './client.ts'
import type { CheckedNode } from './node.ts'
import { type Stage, SYMBOLS } from './stage.ts'

/** How long one try waits for the quote. A session that ends because its user moves is opened again, as a client does. */
const TRY_MS = 20_000

/** What is wrong with it; null if a quote came. */
export async function marketFault({ nodes, users }: Stage, chance: Chance): Promise<string | null> {
  const [user, issuer, server, symbol] = [chance.oneOf(users), chance.oneOf(nodes), chance.oneOf(nodes), chance.oneOf(SYMBOLS)]
  const account = chance.oneOf(user?.accounts ?? [])
  if (user === undefined || account === undefined || issuer === undefined || server === undefined || symbol === undefined) return null
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      const { access_token: token } = await must(200, issuer.url, 'GET', `/connections/${account.connectionId}/token`, user.headers)
      await quoteFrom(server, String(token), symbol)
      return null
    } catch (cause) {
      const where = `${user.userId} at ${account.broker}, a token of node ${issuer.number}, a session at node ${server.number}`
      if (performance.now() > deadline) return `no quote (${where}): ${cause instanceof Error ? cause.message : cause}`
    }
  }
}

async function quoteFrom({ url }: CheckedNode, token: string, symbol: string): Promise<void> {
  const client = await MarketClient.connect(`${url.replace(/^http/, 'ws')}/market-data/stream`)
  try {
    await client.authenticate(token)
    const subscription = await client.subscribe('quotes', symbol)
    await client.until(() => client.updates(subscription).length > 0, 'a quote has come', TRY_MS)
  } finally {
    await client.close()
  }
}
