// Writes audit entries in the transaction of their subject.
import type { AuditEntry } from '@trunkline/core/ports/store'
import type { Kysely } from 'kysely'
import type { Database } from './database.ts'
import { writeAuditEntry } from './documents.ts'

export async function appendAudit(db: Kysely<Database>, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_pending')
    .values({ entry: writeAuditEntry(entry) })
    .execute()
}
