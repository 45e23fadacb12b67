// Which users the sessions of a node follow, sent to the nodes that own these users: they mirror them.
export { FollowedElsewhere } from './followed-elsewhere.ts'
export { FOLLOWED_PATH, followedMessage, readFollowed } from './followed-message.ts'
export { Following } from './following.ts'
