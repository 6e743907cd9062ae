package wire

// MemberOption is the option of STARTUP by which connections say which process of helenus they came through: the owner id of
// its state, and after a slash its own id, by which processes that share a state are told apart. Cassandra ignores options that it does not know, and from 4.1 on shows all in system_views.clients.
const MemberOption = "HELENUS_MEMBER"
