import type { ConnectionAttempt } from '@trunkline/core/domain/account'
import type { AttemptId, BrokerId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AttemptStore, AuditEntry, PendingLogin, SealedValue } from '@trunkline/core/ports/store'
import { endAttempt, isLive, type MemoryDatabase, type StoredAttempt } from './database.ts'

export class MemoryAttemptStore implements AttemptStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  create(attempt: ConnectionAttempt, tokenHash: string, audit: AuditEntry): Promise<boolean> {
    return this.#db.call(() => {
      if (!this.#db.isEnabled(attempt.userKey) || !this.#db.isKeyEnabled(attempt.keyId)) return false
      this.#db.attempts.set(attempt.attemptId, { attempt, tokenHash, verifier: null, stateMadeAt: null, tries: 0 })
      this.#db.audit.push(audit)
      return true
    })
  }

  findByTokenHash(tokenHash: string): Promise<ConnectionAttempt | null> {
    return this.#db.call(() => [...this.#db.attempts.values()].find(stored => stored.tokenHash === tokenHash)?.attempt ?? null)
  }

  findByStateHash(stateHash: string): Promise<PendingLogin | null> {
    return this.#db.call(() => {
      const found = [...this.#db.attempts.values()].find(({ attempt }) => attempt.stateHash === stateHash)
      if (found === undefined || found.verifier === null) return null
      return { attempt: found.attempt, verifier: found.verifier, stateMadeAt: found.stateMadeAt }
    })
  }

  bindBrowser(attemptId: AttemptId, browserHash: string): Promise<boolean> {
    return this.#change(attemptId, stored => {
      if (stored.attempt.browserHash !== null && stored.attempt.browserHash !== browserHash) return false
      stored.attempt = { ...stored.attempt, browserHash }
      return true
    })
  }

  begin(
    attemptId: AttemptId,
    step: { readonly broker: BrokerId; readonly stateHash: string; readonly verifier: SealedValue; readonly at: Timestamp }
  ): Promise<boolean> {
    return this.#change(attemptId, stored => {
      if (!isLive(stored.attempt)) return false
      stored.attempt = { ...stored.attempt, status: 'authorizing', chosenBroker: step.broker, stateHash: step.stateHash }
      stored.verifier = step.verifier
      stored.stateMadeAt = step.at
      return true
    })
  }

  consumeState(attemptId: AttemptId, stateHash: string): Promise<boolean> {
    return this.#change(attemptId, stored => {
      if (stored.attempt.stateHash !== stateHash) return false
      stored.attempt = { ...stored.attempt, stateHash: null }
      stored.verifier = null
      return true
    })
  }

  async countTry(attemptId: AttemptId, max: number): Promise<number | null> {
    let tries: number | null = null
    await this.#change(attemptId, stored => {
      if (!isLive(stored.attempt) || stored.tries >= max) return false
      stored.tries += 1
      tries = stored.tries
      return true
    })
    return tries
  }

  tries(attemptId: AttemptId): Promise<number> {
    return this.#db.call(() => this.#db.attempts.get(attemptId)?.tries ?? 0)
  }

  end(attemptId: AttemptId, status: 'declined' | 'failed', audit: AuditEntry): Promise<boolean> {
    return this.#change(attemptId, stored => {
      if (!isLive(stored.attempt)) return false
      endAttempt(stored, status)
      this.#db.audit.push(audit)
      return true
    })
  }

  prune(at: Timestamp): Promise<number> {
    return this.#db.call(() => {
      const expired = [...this.#db.attempts.values()].filter(({ attempt }) => attempt.expiresAt < at)
      for (const { attempt } of expired) this.#db.attempts.delete(attempt.attemptId)
      return expired.length
    })
  }

  #change(attemptId: AttemptId, change: (stored: StoredAttempt) => boolean): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#db.attempts.get(attemptId)
      return stored !== undefined && change(stored)
    })
  }
}
