// Which users the sessions of a node follow, sent to the nodes that own these users: they mirror them, and tell the health of their
// connections.
export { FollowedElsewhere } from './followed-elsewhere.ts'
export { FOLLOWED_PATH, followedMessage, readFollowed } from './followed-message.ts'
export { Following } from './following.ts'
export { answerOf } from './health-answers.ts'
export { HealthElsewhere } from './health-elsewhere.ts'
export { HEALTH_PATH, readAnswer, readQuestion, type UserHealth } from './health-message.ts'
