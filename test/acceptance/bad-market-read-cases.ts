// Bad input of reads of a market: rows of the table of bad input.
import { type Case, RANDOM, type World } from './bad-input-cases.ts'

export function marketReadCases({ connectionId }: World): readonly Case[] {
  const read = (what: string, query: string, status: number, names: string, id = connectionId): Case => ({
    what: `market data: ${what}`,
    request: ['GET', `/connections/${id}/market-data/${query}`],
    status,
    names
  })
  const window = 'start=2026-01-05T15:00:00Z&end=2026-01-05T17:00:00Z'
  return [
    read('no symbol', 'expirations', 422, 'symbol'),
    read('a wrong symbol', 'expirations?symbol=%20', 422, 'symbol'),
    read('a search for nothing', 'symbols', 422, 'search'),
    read('a search for an empty text', 'symbols?search=', 422, 'search'),
    read('a search for a control character', 'symbols?search=%00', 422, 'search'),
    read('a search for too much', 'symbols?search=apple&limit=101', 422, 'limit'),
    read('no expiration', 'chain?symbol=SPY', 422, 'expiration'),
    read('an expiration that is no day', 'chain?symbol=SPY&expiration=2026-02-30', 422, 'expiration'),
    read('an expiration that is not listed', 'chain?symbol=SPY&expiration=2001-01-01', 422, '2001-01-01'),
    read('a chain of what has no options', 'chain?symbol=BTC%2FUSD&expiration=2026-12-18', 422, 'no options'),
    read('an unknown symbol', 'quote?symbol=NOPE', 422, 'NOPE'),
    read('two symbols', 'quote?symbol=SPY&symbol=QQQ', 422, 'symbol'),
    read('an unknown parameter', 'quote?symbol=SPY&depth=1', 422, 'depth'),
    read('an unknown connection', 'quote?symbol=SPY', 404, 'connection_id', RANDOM),
    read('no connection', 'quote?symbol=SPY', 400, 'connection_id', 'x'),
    read('no window', 'bars?symbol=SPY&interval=1h', 422, 'start'),
    read('a wrong interval', `bars?symbol=SPY&interval=1H&${window}`, 422, 'interval'),
    read(
      'a window that ends before it starts',
      'bars?symbol=SPY&interval=1h&start=2026-01-05T15:00:00Z&end=2026-01-05T15:00:00Z',
      422,
      'start'
    ),
    read('too long a page', `bars?symbol=SPY&interval=1h&${window}&limit=5001`, 422, 'limit'),
    read('too many bars', 'bars?symbol=SPY&interval=1m&start=2025-01-01T00:00:00Z&end=2026-01-01T00:00:00Z', 422, '50000')
  ]
}
