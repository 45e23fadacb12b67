// The words that this project has retired stay retired: in names everywhere, and in prose where they have no plain use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FILES, filesLike, lineOf, textOf } from './repository.ts'
import { type Find, nameFindsIn, pathFindsIn, STAYING_NAMES, stays, textFindsIn } from './vocabulary.ts'

const SOURCES = filesLike(/\.(tsx?|mjs|js)$/).filter(file => !stays(file))
const TEXTS = filesLike(/\.(tsx?|mjs|js|html|md|eta|css|json|sql)$/).filter(file => !stays(file))

function complaints(file: string, finds: readonly Find[]): readonly string[] {
  return finds.map(
    ({ index, name, word, instead }) =>
      `${file}:${index === null ? 1 : lineOf(textOf(file), index)} ${name}: "${word}" is retired here: say ${instead}`
  )
}

test('no identifier has a retired word in it', () => {
  assert.deepEqual(
    SOURCES.flatMap(file => complaints(file, nameFindsIn(textOf(file)))),
    []
  )
})

test('no file or folder is named with a retired word', () => {
  assert.deepEqual(
    FILES.filter(file => !stays(file)).flatMap(file => complaints(file, pathFindsIn(file))),
    []
  )
})

test('no comment, title, message or document has a word that is retired altogether', () => {
  assert.deepEqual(
    TEXTS.flatMap(file => complaints(file, textFindsIn(file, textOf(file)))),
    []
  )
})

test('every exception is needed', () => {
  const isThere = (name: string) => SOURCES.some(file => textOf(file).includes(name)) || FILES.some(file => file.includes(name))
  assert.deepEqual(
    [...STAYING_NAMES.keys()].filter(name => !isThere(name)),
    []
  )
})

const words = (finds: readonly Find[]): readonly string[] => finds.map(({ name, word }) => `${name}: ${word}`)

const BRACE = '$' + '{'

test('names are found by their words, in code only', () => {
  const source = [
    '// The house tells its desk.',
    "const title = 'a house with a desk'",
    'const orderDesk = openHouse({ HOUSE_URL, #desks: 1 })',
    `const text = \`a house ${BRACE}houseOf(user)}, ${BRACE}\`nested ${BRACE}deskOf}\`}\``,
    'const pattern = /house|desk/, ratio = lines / house_ms / 2',
    'type Line = OrderBook; placeOrder(bookOf(warehouse)); keptLineOf()'
  ].join('\n')
  assert.deepEqual(words(nameFindsIn(source)), [
    'orderDesk: desk',
    'openHouse: house',
    'HOUSE_URL: house',
    '#desks: desks',
    'houseOf: house',
    'deskOf: desk',
    'house_ms: house',
    'Line: Line',
    'keptLineOf: kept line'
  ])
  assert.deepEqual(words(nameFindsIn('const sandbox = orderWriter.place(OrderBook, Promise.all(lines), desktop, tellurian)')), [])
})

test('files and folders are found by theirs', () => {
  assert.deepEqual(words(pathFindsIn('packages/sandbox/src/house/order-desk.test.ts')), ['house: house', 'order-desk.test.ts: desk'])
  assert.deepEqual(words(pathFindsIn('packages/core/package.json')), [])
})

test('prose is found in comments, strings and documents, and names and addresses are no prose', () => {
  const source = `// What the house tells.\ntest('the Desk’s order', () => desk.house(\`${BRACE}desk} is told anew\`, '/house/desk', /nameless/))`
  assert.deepEqual(
    textFindsIn('x.ts', source).map(({ word, instead }) => `${word}: ${instead}`),
    ['house: sandbox', 'desk: order writer', 'told: sent, published or reported', 'anew: again']
  )
  assert.deepEqual(
    textFindsIn('x.md', 'Whoever asks the house is told.\n').map(({ word }) => word),
    ['whoever', 'house', 'told']
  )
  assert.deepEqual(
    textFindsIn('x.md', 'The sandbox of a warehouse, on a desktop; the order book is in place, with a clearing house.\n'),
    []
  )
})
