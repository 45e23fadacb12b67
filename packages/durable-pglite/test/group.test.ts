/** A group whose commit is not answered, with a scripted engine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitUnknown } from '@trunkline/core/ports/store'
import { EngineUnavailable } from '../src/errors.ts'
import { Group } from '../src/group.ts'
import { Session } from '../src/session.ts'
import { DEFAULT_TYPES } from '../src/wire.ts'

type Answer = (script: string) => Uint8Array | Error

function groupOver(answer: Answer): { readonly group: Group; readonly sent: string[] } {
  const sent: string[] = []
  const link = {
    async send(message: Uint8Array): Promise<Uint8Array> {
      const text = Buffer.from(message).toString('latin1')
      sent.push(text)
      const found = answer(text)
      if (found instanceof Error) throw found
      return found
    }
  }
  const session = new Session({ link, types: DEFAULT_TYPES, statementsMax: 8, onSchemaChange: () => undefined })
  return { group: new Group(session, false), sent }
}

const INSERT = { sql: 'INSERT', values: [] }
const began = Buffer.concat([complete('BEGIN'), ready('T')])
const inserted = Buffer.concat([message('1'), message('2'), message('n'), complete('INSERT 0 1'), ready('T')])
const opening = (script: string): Uint8Array =>
  script.includes('BEGIN') || script.includes('SAVEPOINT') ? Buffer.concat([began, inserted]) : inserted

test('a commit that fails leaves every member unknown, also the one that was undone', async () => {
  const { group, sent } = groupOver(script =>
    script.includes('COMMIT')
      ? Buffer.concat([failed('40001'), ready('E')])
      : script.includes('ROLLBACK\0')
        ? Buffer.concat([complete('ROLLBACK'), ready('I')])
        : opening(script)
  )
  const [first, second] = [await group.run(INSERT), await group.run(INSERT)]
  await group.statement(group.enter(false), INSERT)
  const undone = group.undo(null)
  await group.commit()
  for (const verdict of [first.verdict, second.verdict, undone]) await assert.rejects(verdict, CommitUnknown)
  assert.match(sent.at(-1) ?? '', /ROLLBACK/)
})

test('a commit that turns out to be a rollback is not taken for one', async () => {
  const { group } = groupOver(script => (script.includes('COMMIT') ? Buffer.concat([complete('ROLLBACK'), ready('I')]) : opening(script)))
  const { verdict } = await group.run(INSERT)
  await group.commit()
  await assert.rejects(verdict, CommitUnknown)
})

test('an engine lost at the commit leaves it unknown; lost before, it is known that nothing was written', async () => {
  for (const [lost, type] of [
    [new CommitUnknown('lost'), CommitUnknown],
    [new EngineUnavailable('closed', 'gone'), EngineUnavailable]
  ] as const) {
    const { group } = groupOver(script => (script.includes('COMMIT') ? lost : opening(script)))
    const { verdict } = await group.run(INSERT)
    await group.commit()
    await assert.rejects(verdict, type)
  }
})

function message(letter: string, body: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(5)
  head.write(letter, 'latin1')
  head.writeInt32BE(body.byteLength + 4, 1)
  return Buffer.concat([head, body])
}
function complete(tag: string): Buffer {
  return message('C', Buffer.from(`${tag}\0`))
}
function ready(status: string): Buffer {
  return message('Z', Buffer.from(status))
}
function failed(code: string): Buffer {
  return message('E', Buffer.from(`SERROR\0C${code}\0Mfailed\0\0`))
}
