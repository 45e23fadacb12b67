import type { User } from '@trunkline/core/domain/account'
import Type, { type Static } from 'typebox'
import { page, record, ticket, timestamp } from './common.ts'

const userId = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'The platform’s own name of the user: 1 to 64 characters, no control characters, no space at its ends, and neither `.` nor `..`.',
  examples: ['ada'],
  'x-expected': '1 to 64 characters without control characters and without spaces at its ends'
})
const userSecret = Type.String({ description: 'Shown once; store it. Sent later in the `user-secret` header.', examples: ['us_…'] })

export const userTicket = ticket('NewUser', { user_id: userId })
export const userRow = record('User', 'An end user of the platform.', { user_id: userId, created_at: timestamp })
export const userPage = page('UserPage', userRow)
export const userWithSecret = record('UserWithSecret', 'A user and its new secret.', {
  user_id: userId,
  'user-secret': userSecret
})
export const deletedUser = record('DeletedUser', 'The user that was deleted.', { user_id: userId })

export function presentUser({ userId: user_id, createdAt: created_at }: User): Static<typeof userRow> {
  return { user_id, created_at }
}
