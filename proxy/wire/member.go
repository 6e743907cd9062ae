package wire

// MemberOption is the option of STARTUP by which connections say which process of helenus they came through: the owner id of
// its state. Cassandra ignores options that it does not know, and from 4.1 on shows all in system_views.clients.
const MemberOption = "HELENUS_MEMBER"
