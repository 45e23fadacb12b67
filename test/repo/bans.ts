// Words and patterns that do not belong in this repository, each with what to write instead.

export interface Ban {
  readonly pattern: RegExp
  readonly instead: string
  /** Where it is looked for. */
  readonly within: RegExp
  /** Where it is right all the same. */
  readonly except?: RegExp
}

const SHIPPED = /^packages\/(?!testkit\/)[^/]+\/src\/.*\.tsx?$/
const CODE = /\.(tsx?|mjs|js)$/
const TEXT = /(\.(tsx?|mjs|js|json|md|sql|css|eta|html|yml|yaml)|^\.ci\/run|^\.npmrc|^LICENSE)$/
const THIS_FOLDER = /^test\/repo\//

// The edge of each program: where the real clock and real chance are made, to be passed in everywhere else.
const EDGE =
  /^packages\/(client\/src\/(transport|webhooks\/verify|streams\/(connection|market\/stream))\.ts|server\/src\/(compose|main|cli)\.ts|server\/src\/(ops|cli|demo)\/|sandbox\/src\/(compose|main)\.ts|sandbox\/src\/brokerage\/(clock|start)\.ts)/

// Statements put together from fragments of their own file; every value in them is a numbered parameter.
const COMPOSED_SQL = /^packages\/server\/src\/store\/orders\/list\.ts$/

// What they parse is their own: files and rows this program wrote, cursors it signed, what a child or the service itself printed. The
// strict reader of REST bodies has the same limits and names the field that is wrong. The client bounds an answer, and may import nothing;
// the console reads what its own service answered.
const OWN_JSON =
  /^packages\/(client\/src\/(answer|webhooks\/verify|streams\/connection)\.ts|console\/src\/api\.ts|core\/src\/(domain\/json|app\/broker-access\/credentials|app\/connect\/verifier)\.ts|(durable-pglite\/src\/(create|lock)\.ts|server\/src\/(store|demo)\/)|server\/src\/(admin\/(platforms|client)|http\/(body|cursor|docs\/components)|ops\/(sandbox-process|demo-platform))\.ts|sandbox\/src\/(engine\/snapshot|brokerage\/(folder|state|journal|api\/cursor)|market\/lean\/catalog|dialects\/alpaca\/(account|orders|sockets))\.ts)/

// The helper itself, the engine's own sync, folders that are moved, a socket's name, pages of the documentation, a lock that a cut may
// take.
const UNLASTING =
  /^packages\/(files\/src\/durable|durable-pglite\/src\/(durable-fs|layout)|server\/src\/admin\/channel|server\/src\/cli\/docs|sandbox\/src\/brokerage\/folder)\.ts$/

export const BANS: readonly Ban[] = [
  { pattern: /\bJSON\.parse\(/, instead: 'parseJson of core/domain/json, or readJson of brokers/kit', within: SHIPPED, except: OWN_JSON },
  { pattern: /\bDate\.now\(/, instead: 'clock.now()', within: SHIPPED, except: EDGE },
  { pattern: /\bnew Date\(\)/, instead: 'clock.now()', within: SHIPPED, except: EDGE },
  { pattern: /\bTemporal\.Now\b/, instead: 'clock.now()', within: SHIPPED, except: EDGE },
  { pattern: /\bMath\.random\(/, instead: 'a source of chance that is passed in', within: SHIPPED, except: EDGE },
  {
    pattern: /\b(writeFile(Sync)?|renameSync|linkSync|fsyncSync)\(/,
    instead: 'writeDurably of @trunkline/files/durable: whole also after a power cut',
    within: SHIPPED,
    except: UNLASTING
  },
  { pattern: /\bparseFloat\(/, instead: 'parseDecimal of core/domain/decimal', within: CODE, except: THIS_FOLDER },
  { pattern: /\b(TODO|FIXME|XXX|HACK)\b/, instead: 'the code, or an issue', within: TEXT, except: THIS_FOLDER },
  { pattern: /\b(test|it|describe|suite)\.only\(|\bonly: true\b/, instead: 'npm test -- <path>', within: CODE, except: THIS_FOLDER },
  {
    pattern: /\b(test|it|describe|suite|t)\.(skip|todo)\(|\b(skip|todo): (true|['"`])/,
    instead: 'a test that runs, or none',
    within: /\.test\.ts$/,
    except: /^(test\/repo|scripts\/test)\//
  },
  {
    pattern:
      /(?<!sql(?:<[^`]*>)?)`\s*(select|SELECT|insert into|INSERT INTO|update|UPDATE|delete from|DELETE FROM)\s[^`]*\$\{(?![A-Z_]+\})/,
    instead: 'parameters: the sql tag of kysely, or $1',
    within: SHIPPED,
    except: COMPOSED_SQL
  },
  {
    pattern: /(?<![\w.])\/(root|home\/\w+|Users\/\w+|work)\/[\w.]/,
    instead: 'a path relative to the checkout',
    within: TEXT,
    except: THIS_FOLDER
  },
  { pattern: /\b(describe|it)\.skip|eslint-disable|@ts-ignore|@ts-nocheck/, instead: 'a repair', within: CODE, except: THIS_FOLDER }
]

export interface Find {
  readonly index: number
  readonly ban: Ban
}

/** What `bans` find in a file. */
export function findsIn(file: string, text: string, bans: readonly Ban[] = BANS): readonly Find[] {
  return bans
    .filter(({ within, except }) => within.test(file) && except?.test(file) !== true)
    .flatMap(ban => [...text.matchAll(new RegExp(ban.pattern, `${ban.pattern.flags}g`))].map(({ index }) => ({ index, ban })))
}
