import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { FeedSubscription } from '../../../src/kit/runtime/incremental-feed.ts'
import { OrderedRequests } from '../../../src/kit/runtime/ordered-requests.ts'
import { RecordingSink } from '../../support/recording-sink.ts'

const subscriptionOf = (symbol: string) => new FeedSubscription({ channel: 'quotes', symbol }, new RecordingSink(), false)

function opened() {
  const history: string[] = []
  const requests = new OrderedRequests(
    {
      broker: 'Acme',
      symbolsMax: 2,
      send: (action, members) => history.push(`${action} ${members.map(({ topic }) => topic.symbol).join()}`)
    },
    {
      streamed: ({ topic }) => history.push(`streamed ${topic.symbol}`),
      refused: ({ topic }, message) => history.push(`refused ${topic.symbol}: ${message}`)
    }
  )
  return { requests, history }
}

test('answers belong to requests in their order, and what an answer lacks is refused', () => {
  const { requests, history } = opened()
  requests.request('subscribe', ['A', 'B', 'C'].map(subscriptionOf))
  requests.request('unsubscribe', [subscriptionOf('X')])
  requests.accepted(({ symbol }) => symbol === 'A')
  requests.accepted(() => true)
  requests.accepted(() => true)
  assert.deepEqual(history, [
    'subscribe A,B',
    'subscribe C',
    'unsubscribe X',
    'streamed A',
    'refused B: Acme did not begin to stream quotes of B',
    'streamed C'
  ])
})

test('a refused request is sent again for each of its symbols, without those that are not wanted any more', () => {
  const { requests, history } = opened()
  const [a, b] = [subscriptionOf('A'), subscriptionOf('B')]
  requests.request('subscribe', [a, b])
  requests.refused('limit')
  requests.refused('limit')
  b.requestNumber = null
  requests.refused('limit')
  assert.deepEqual(history, ['subscribe A,B', 'subscribe A', 'subscribe B', 'refused A: Acme does not stream quotes of A: limit'])
  assert.throws(() => requests.refused('what is this'), Malformed)
})
