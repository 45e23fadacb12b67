// Imports run one way, between layers and between files.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { importsIn, resolveImport } from '../../scripts/testing/imports.ts'
import { cyclesIn } from './cycles.ts'
import { IMPURE_MODULES, layerOf, MAY_IMPORT, PURE_LAYERS, trespass } from './layers.ts'
import { filesLike, ROOT, SOURCES, textOf } from './repository.ts'

test('every source file belongs to a layer', () => {
  const unassigned = SOURCES.filter(file => layerOf(file) === undefined)
  assert.deepEqual(unassigned, [], 'add the folder to the table in test/repo/layers.ts, with what it may import')
})

test('every layer that is imported exists in the table', () => {
  const unknown = Object.values(MAY_IMPORT)
    .flat()
    .filter(name => !(name.replace(/\/$/, '') in MAY_IMPORT))
  assert.deepEqual(unknown, [])
})

test('no file imports a layer that its own may not', () => {
  const wrong: string[] = []
  for (const file of SOURCES) {
    for (const { specifier } of importsIn(textOf(file))) {
      const target = resolveImport(file, specifier)
      if (target === null) continue
      // Of what a browser gets under another name, declarations are all that there is.
      const isThere = [target, target.replace(/\.js$/, '.d.ts')].some(each => existsSync(join(ROOT, each)))
      if (!isThere) wrong.push(`${file} imports ${specifier}, which does not exist`)
      const complaint = trespass(file, target)
      if (complaint !== undefined) wrong.push(complaint)
    }
  }
  assert.deepEqual(wrong, [])
})

test('pure layers use nothing of the world', () => {
  const wrong: string[] = []
  for (const file of SOURCES.filter(file => PURE_LAYERS.some(pure => `${layerOf(file)}/`.startsWith(pure)))) {
    for (const { specifier } of importsIn(textOf(file))) {
      if (IMPURE_MODULES.test(specifier)) wrong.push(`${file} imports ${specifier}: take what is needed of it as an argument or a port`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('black-box tests import nothing of the packages', () => {
  const wrong: string[] = []
  for (const file of filesLike(/^test\/(acceptance|browser|cluster-check)\/.*\.ts$/)) {
    for (const { specifier } of importsIn(textOf(file))) {
      const target = resolveImport(file, specifier)
      if (target?.startsWith('packages/') === true && !target.startsWith('packages/testkit/')) wrong.push(`${file} imports ${specifier}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('no file imports itself by way of others, types included', () => {
  const graph = new Map<string, readonly string[]>()
  for (const file of SOURCES) {
    const targets = importsIn(textOf(file)).map(({ specifier }) => resolveImport(file, specifier))
    graph.set(
      file,
      targets.filter(target => target !== null)
    )
  }
  assert.deepEqual(cyclesIn(graph), [])
})

test('the most specific layer wins, and folders under * are apart from each other', () => {
  assert.equal(layerOf('packages/core/src/domain/calendar/zone.ts'), 'core/domain')
  assert.equal(layerOf('packages/brokers/src/kit/http.ts'), 'brokers/kit')
  assert.equal(layerOf('packages/brokers/src/acme/parse.ts'), 'brokers/acme')
  assert.equal(layerOf('packages/brokers/src/registry.ts'), 'brokers/registry.ts')
  assert.equal(layerOf('packages/brokers/src/stray.ts'), undefined)
  assert.equal(layerOf('packages/server/src/unheard-of/x.ts'), undefined)

  assert.equal(trespass('packages/brokers/src/acme/parse.ts', 'packages/brokers/src/kit/json.ts'), undefined)
  assert.equal(trespass('packages/brokers/src/registry.ts', 'packages/brokers/src/acme/index.ts'), undefined)
  assert.match(String(trespass('packages/brokers/src/acme/parse.ts', 'packages/brokers/src/bravo/parse.ts')), /may not import/)
  assert.match(String(trespass('packages/brokers/src/acme/parse.ts', 'packages/core/src/app/keyed-queue.ts')), /may not import/)
  assert.match(
    String(trespass('packages/sandbox/src/dialects/acme/orders.ts', 'packages/sandbox/src/brokerage/state.ts')),
    /may not import/
  )
  assert.equal(trespass('packages/sandbox/src/dialects/acme/orders.ts', 'packages/sandbox/src/dialects/frame/brokerage-view.ts'), undefined)
  assert.match(String(trespass('packages/core/src/domain/order.ts', 'packages/core/src/ports/store.ts')), /may not import/)
})

test('a cycle is found and reported from its smallest file on', () => {
  const graph = new Map([
    ['b', ['c']],
    ['a', ['b', 'd']],
    ['c', ['a']],
    ['d', []]
  ])
  assert.deepEqual(cyclesIn(graph), ['a → b → c → a'])
})

test('imports are read from every form they take', () => {
  const text = [
    "import { a, type B } from './value.ts'",
    "import type { C } from './type.ts'",
    "import {\n  type D,\n  type E\n} from './types.ts'",
    "import * as all from '@trunkline/core/domain/order'",
    "import './effect.ts'",
    "export * from './again.ts'",
    "const lazy = await import('./lazy.ts')",
    "const worker = new Worker(new URL('./worker.ts', import.meta.url))",
    "const sql = `select 1 from 'nothing'`"
  ].join('\n')
  assert.deepEqual(
    new Map(importsIn(text).map(({ specifier, isValue }) => [specifier, isValue])),
    new Map([
      ['./value.ts', true],
      ['./type.ts', false],
      ['./types.ts', false],
      ['@trunkline/core/domain/order', true],
      ['./again.ts', true],
      ['./effect.ts', true],
      ['./lazy.ts', true],
      ['./worker.ts', false]
    ])
  )
  assert.equal(resolveImport('packages/server/src/main.ts', '@trunkline/core/domain/order'), 'packages/core/src/domain/order.ts')
  assert.equal(resolveImport('packages/server/src/main.ts', 'fastify'), null)
})
