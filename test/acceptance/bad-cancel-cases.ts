// Bad input of cancelling all: rows of the table of bad input.
import { type Case, RANDOM, type World } from './bad-input-cases.ts'

export function cancelCases({ accountId, connectionId }: World): readonly Case[] {
  const post = (what: string, body: unknown, names: string, status = 400): Case => ({
    what: `cancelling ${what}`,
    request: ['POST', '/orders/cancel'],
    body,
    status,
    names
  })
  return [
    post('without saying whose orders', {}, 'account_id'),
    post('without a body', undefined, 'JSON body'),
    post('of an account and a connection', { account_id: accountId, connection_id: connectionId }, 'account_id'),
    post('of an account and all', { account_id: accountId, all: true }, 'account_id'),
    ...[false, 'true', 1, null].map(all => post(`with all ${JSON.stringify(all)}`, { all }, 'all')),
    ...['', 'x', null, 7].map(id => post(`of account ${JSON.stringify(id)}`, { account_id: id }, 'account_id')),
    post('of an unknown account', { account_id: RANDOM }, 'account_id', 404),
    post('of an unknown connection', { connection_id: RANDOM }, 'connection_id', 404),
    post('with an unknown field', { all: true, status: 'open' }, 'status')
  ]
}
