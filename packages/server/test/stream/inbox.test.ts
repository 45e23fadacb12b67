import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { Inbox, type InboxOwner } from '../../src/stream/inbox.ts'

class Owner implements InboxOwner {
  readonly log: string[] = []
  release: () => void = () => undefined

  handle(message: string): Promise<void> | undefined {
    this.log.push(message)
    if (message === 'throws') throw new Error(message)
    if (message === 'rejects') return Promise.reject(new Error(message))
    if (!message.startsWith('slow')) return undefined
    return new Promise(resolve => {
      this.release = resolve
    })
  }

  tooMany(isLast: boolean): void {
    this.log.push(isLast ? 'last warning' : 'warning')
  }

  failed(cause: unknown): void {
    this.log.push(`failed: ${cause instanceof Error ? cause.message : cause}`)
  }

  pause(): void {
    this.log.push('pause')
  }

  resume(): void {
    this.log.push('resume')
  }
}

test('messages are handled one after the other, in the order in which they came', async () => {
  const [owner, clock] = [new Owner(), new VirtualClock()]
  const inbox = new Inbox(owner, clock, { burst: 100, perSecond: 1, warnings: 1, bytesMax: 1_000 })
  for (const message of ['a', 'slow 1', 'b', 'slow 2', 'c']) inbox.put(message)
  assert.deepEqual(owner.log, ['a', 'slow 1'])
  owner.release()
  await clock.settled()
  assert.deepEqual(owner.log, ['a', 'slow 1', 'b', 'slow 2'])
  owner.release()
  await clock.settled()
  inbox.put('d')
  assert.deepEqual(owner.log, ['a', 'slow 1', 'b', 'slow 2', 'c', 'd'])
})

test('a message that cannot be handled is reported, and nothing is thrown [S74]', async () => {
  const [owner, clock] = [new Owner(), new VirtualClock()]
  const inbox = new Inbox(owner, clock, { burst: 100, perSecond: 1, warnings: 1, bytesMax: 1_000 })
  for (const message of ['throws', 'rejects', 'throws', 'rejects', 'a']) inbox.put(message)
  await clock.settled()
  assert.deepEqual(owner.log, [
    ...['throws', 'failed: throws', 'rejects', 'failed: rejects', 'throws', 'failed: throws'],
    ...['rejects', 'failed: rejects', 'a']
  ])
})

test('what waits is bounded by reading no more', async () => {
  const [owner, clock] = [new Owner(), new VirtualClock()]
  const inbox = new Inbox(owner, clock, { burst: 100, perSecond: 1, warnings: 1, bytesMax: 10 })
  inbox.put('slow')
  inbox.put('12345')
  assert.ok(!owner.log.includes('pause'))
  inbox.put('123456')
  assert.ok(owner.log.includes('pause'))
  owner.release()
  await clock.settled()
  assert.deepEqual(owner.log, ['slow', 'pause', '12345', 'resume', '123456'])
})

test('a burst and a steady rate pass; beyond them messages are dropped with a warning, and then it is over', async () => {
  const [owner, clock] = [new Owner(), new VirtualClock()]
  const inbox = new Inbox(owner, clock, { burst: 3, perSecond: 10, warnings: 2, bytesMax: 100 })
  for (const message of ['1', '2', '3', '4']) inbox.put(message)
  assert.deepEqual(owner.log, ['1', '2', '3', 'warning'])
  await clock.advance(100)
  inbox.put('5')
  inbox.put('6')
  inbox.put('7')
  assert.deepEqual(owner.log.slice(4), ['5', 'warning', 'last warning'])
})

test('what waits is bounded in bytes, whatever its characters', async () => {
  const [owner, clock] = [new Owner(), new VirtualClock()]
  const inbox = new Inbox(owner, clock, { burst: 100, perSecond: 1, warnings: 1, bytesMax: 1_000 })
  inbox.put('slow')
  inbox.put('\u20ac'.repeat(333))
  assert.deepEqual(owner.log, ['slow'])
  inbox.put('\u20ac')
  assert.deepEqual(owner.log, ['slow', 'pause'])
  owner.release()
  await clock.settled()
  assert.equal(owner.log.includes('resume'), true)
})
