// Every block of settings that the documents show starts a service: nothing that it needs is left unsaid.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { preflight } from '../../src/preflight/index.ts'
import { freshKey } from '../../src/vault/key-file.ts'
import { directory } from '../admin/support.ts'

const ROOT = resolve(import.meta.dirname, '..', '..', '..', '..')
const DOCUMENTS = ['README.md', 'docs/guides/brokers.md']

/** The settings of a block, with something in place of what only its reader has. */
function settingsIn(block: string): Readonly<Record<string, string>> {
  const { id, key } = freshKey()
  const set = block.matchAll(/\b((?:TRUNKLINE|SANDBOX)_[A-Z_]+)=("[^"]*"|'[^']*'|\S+)/g)
  return Object.fromEntries(
    [...set].map(([, name = '', value = '']) => [
      name,
      value.includes('keys generate') ? `${id}:${Buffer.from(key).toString('base64')}` : value.replace('…', 'something-of-yours')
    ])
  )
}

for (const document of DOCUMENTS) {
  const blocks = [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^```sh settings\n([\s\S]*?)^```$/gm)].map(
    ([, block = '']) => block
  )

  test(`every block of settings in ${document} starts a service`, async context => {
    assert.ok(blocks.length >= 2)
    for (const block of blocks) {
      const env = settingsIn(block)
      const own = { TRUNKLINE_PORT: '0', TRUNKLINE_DATA_DIR: join(directory(context), 'data') }
      const { findings, known } = await preflight({ ...env, ...own }, true)
      assert.deepEqual(
        findings.filter(({ level }) => level !== 'ok'),
        [],
        block
      )
      assert.ok(known.offers?.some(({ at }) => at === 'broker') === true, `some broker itself is offered:\n${block}`)
    }
  })

  test(`a block of ${document} for live accounts needs every setting it names`, async context => {
    const live = blocks.map(settingsIn).filter(env => env.TRUNKLINE_MASTER_KEYS !== undefined)
    assert.equal(live.length, 1)
    const { TRUNKLINE_MASTER_KEYS: _, ...without } = live[0] ?? {}
    const own = { TRUNKLINE_PORT: '0', TRUNKLINE_DATA_DIR: join(directory(context), 'data') }
    const { findings } = await preflight({ ...without, ...own }, true)
    assert.deepEqual(
      findings.filter(({ level }) => level === 'fault').map(({ about }) => about),
      ['TRUNKLINE_MASTER_KEYS']
    )
  })
}
