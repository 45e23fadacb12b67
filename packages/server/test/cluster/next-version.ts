// The service as its next version, for upgrades: with another migration, and with messages to other nodes that this version does not know.
// The argument names the migration: `compatible`, or `breaking` for that and one that this version cannot work with.
import { userKey } from '@trunkline/testkit/bus-contract/index'
import { NatsBus } from '../../src/bus/nats-bus.ts'
import { DirectMessages } from '../../src/cluster/direct-messages.ts'
import { compose } from '../../src/compose.ts'
import { settingsOf } from '../../src/config/settings.ts'
import { PinoLog } from '../../src/ops/log.ts'
import { endOnUncaught } from '../../src/ops/process-policy.ts'
import { startFailure } from '../../src/ops/start-failure.ts'
import { migrationOf, readMigrations } from '../../src/store/migrate.ts'

/** Columns, an index and a function more, in tables that are written all the time. */
const COMPATIBLE = `-- compatible
alter table orders add column next_version text;
alter table events add column next_version text;
alter table members add column next_version text;
create index orders_next_version on orders (next_version) where next_version is not null;
create function next_version() returns int language sql as $$ select 1 $$;
`
const BREAKING = '-- breaking\ncreate table next_version (id int primary key);\n'

const own = readMigrations()
const compatible = migrationOf(own.length + 1, 'next-version', COMPATIBLE)
const breaking = migrationOf(own.length + 2, 'version-after', BREAKING)
const migrations = [...own, compatible, ...(process.argv[2] === 'breaking' ? [breaking] : [])]

const { publish } = NatsBus.prototype
NatsBus.prototype.publish = function (message) {
  const more = { ...message, next_version: { of: ['any', 'form'] } }
  publish.call(this, more)
}
const { toOwner, toAll } = DirectMessages.prototype
DirectMessages.prototype.toOwner = function (key, message) {
  toOwner.call(this, key, { type: 'next_version', userKey: userKey(1) })
  toOwner.call(this, key, message)
}
DirectMessages.prototype.toAll = function (message) {
  toAll.call(this, { type: 'next_version' })
  toAll.call(this, message)
}

const settings = settingsOf(process.env)
const log = new PinoLog(settings.logLevel)
endOnUncaught(log)
const service = await compose(settings, log, process.env, { migrations }).catch((cause: unknown) => {
  process.stderr.write(`trunkline did not start: ${startFailure(cause)}\n`)
  process.exit(1)
})
process.stdout.write(`Trunkline is ready at ${service.url}\n`)
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)))
