/*
 * Every limit of the program, in one table.
 *
 * Going over a limit is a defined error (VD_ERR_LIMIT unless said otherwise),
 * never a crash. docs/limits.md shows this table; a check in the test suite
 * keeps the two alike. A line is: name, value, what it bounds.
 */
#ifndef VD_BASE_LIMITS_H
#define VD_BASE_LIMITS_H

/* clang-format off */
#define VD_LIMITS(X) \
    X(VD_RESOURCE_LEN_MAX,           316,         "bytes of a resource's name (plural.group)") \
    X(VD_NAMESPACE_LEN_MAX,      253,         "bytes of a namespace") \
    X(VD_NAME_LEN_MAX,           253,         "bytes of an object's name") \
    X(VD_BODY_LEN_MAX,           3145728,     "bytes of an object's body (3 MiB, as Kubernetes' request limit)") \
    X(VD_BATCH_CHANGES_MAX,      32768,       "changes of one atomic batch, with the conditions on namespaces and definitions that come with them") \
    X(VD_BATCH_BYTES_MAX,        268435456,   "bytes of one atomic batch") \
    X(VD_BATCH_REFUSALS_LEN_MAX, 8388608,     "bytes of texts that say why the members of a batch were refused; of more members only the kind of reason is kept") \
    X(VD_GROUP_CHANGES_MAX,      1024,        "changes that share one transaction and one sync; a larger batch goes alone") \
    X(VD_GROUP_BYTES_MAX,        8388608,     "bytes that share one transaction and one sync; a larger batch goes alone") \
    X(VD_QUEUE_PROPOSALS_MAX,    65536,       "proposals waiting for the writer; one more is refused") \
    X(VD_COMMIT_ATTEMPTS_MAX,    16,          "times that a group is tried when other processes write to the same log; then its proposals are refused") \
    X(VD_WINDOW_EVENTS_DEFAULT,  1000000,     "events of the watch window") \
    X(VD_WINDOW_AGE_S_DEFAULT,   86400,       "seconds that the watch window reaches back") \
    X(VD_TAIL_EVENTS_DEFAULT,    100000,      "newest events kept in memory; older ones of the window are read from the engine") \
    X(VD_TAIL_BYTES_DEFAULT,     67108864,    "bytes of replaced bodies kept in memory for the newest events") \
    X(VD_COMPACT_STEP_ROWS,      256,         "log rows that one step of compaction looks at") \
    X(VD_CHECKPOINT_PAGES_DEFAULT, 4000,      "pages of the write-ahead log before it is folded into the main file (16 MB)") \
    X(VD_SCAN_STEP_ROWS,         512,         "entries or log rows that one call of a reader passes at most") \
    X(VD_READ_STEP_BYTES,        262144,      "bytes of bodies from which on one call of a reader gives no more objects or events") \
    X(VD_INBOX_COMMITS_MAX,      4096,        "commits waiting for a loop's turn; then its watchers catch up from the log instead") \
    X(VD_INBOX_BYTES_MAX,        33554432,    "bytes of bodies of commits waiting for a loop's turn; then its watchers catch up from the log instead") \
    X(VD_INFORMER_RETRY_MS_MIN,  100,         "pause after which an informer begins a list again that has failed once; it doubles with each failure") \
    X(VD_INFORMER_RETRY_MS_MAX,  10000,       "the longest pause after which an informer begins a list again that has failed") \
    X(VD_SELECTOR_LEN_MAX,       65536,       "bytes of a label or field selector") \
    X(VD_SELECTOR_TERMS_MAX,     1024,        "requirements of a label or field selector, and values of one of them") \
    X(VD_JSON_DEPTH_MAX,         512,         "nesting of a JSON or YAML document") \
    X(VD_JSON_LEN_MAX,           268435456,   "bytes of a JSON or YAML document") \
    X(VD_JSON_NUMBER_LEN_MAX,    1024,        "bytes of a number in a JSON document: comparing it costs its length") \
    X(VD_JSON_DUPLICATES_MAX,    100,         "duplicate keys that are reported of one document (as in Kubernetes); more are not named") \
    X(VD_JSON_PATCH_OPS_MAX,     10000,       "operations of a JSON patch") \
    X(VD_JSON_PATCH_LEN_MAX,     3145728,     "bytes of a JSON patch, and of a document made by its copies") \
    X(VD_JSON_PATCH_STEPS_MAX,   100000000,   "values that one JSON patch may pass on its way through a document") \
    X(VD_JSONPATH_LEN_MAX,       1024,        "bytes of a JSONPath of a printer column or selectable field") \
    X(VD_TABLE_CELL_LEN_MAX,     16384,       "bytes of the text in a table's cell; a longer one is cut and ends in ...") \
    X(VD_TABLE_ROW_LEN_MAX,      262144,      "bytes of the cells of a table's row; those behind are null") \
    X(VD_TABLE_ROW_WORK_MAX,     67108864,    "bytes that are searched in an object for all cells of its table's row; cells behind are null") \
    X(VD_CEL_LEN_MAX,            65536,       "bytes of a CEL expression") \
    X(VD_CEL_DEPTH_MAX,          250,         "nesting of a CEL expression, and operators in one row of it") \
    X(VD_CEL_COST_MAX,           10000000,    "estimated cost of a CEL rule, at which a CRD is refused (as in Kubernetes)") \
    X(VD_CEL_TOTAL_COST_MAX,     100000000,   "estimated cost of all CEL rules of a schema (as in Kubernetes)") \
    X(VD_CEL_CALL_COST_MAX,      1000000,     "cost of one evaluation of a CEL rule (as in Kubernetes)") \
    X(VD_CEL_BUDGET_MAX,         10000000,    "cost of all evaluations of CEL rules for one object (as in Kubernetes)") \
    X(VD_CEL_STEPS_MAX,          20000000,    "comparisons inside one evaluation of a CEL rule that have no cost of their own") \
    X(VD_CEL_MEMORY_MAX,         67108864,    "bytes that one evaluation of a CEL rule may take") \
    X(VD_CEL_MESSAGE_LEN_MAX,    5120,        "bytes of a message that a messageExpression makes (as in Kubernetes)") \
    X(VD_STATUS_CAUSES_MAX,      100,         "causes that the answer to an invalid object names") \
    X(VD_YAML_NODES_MAX,         1000000,     "nodes of a YAML document after its aliases are expanded") \
    X(VD_YAML_FLOW_WORK_MAX,     33554432,    "sum over a YAML document's values of the brackets around each") \
    X(VD_YAML_DIRECTIVES_MAX,    1000,        "%TAG directives of a YAML text") \
    X(VD_HTTP_HEAD_LEN_MAX,      65536,       "bytes of a request's head, its last empty line included") \
    X(VD_HTTP_HEADERS_MAX,       100,         "headers of a request") \
    X(VD_HTTP_HEADER_LEN_MAX,    16384,       "bytes of one header, name and value (a line without its end)") \
    X(VD_HTTP_METHOD_LEN_MAX,    32,          "bytes of a request's method") \
    X(VD_HTTP_TARGET_LEN_MAX,    8192,        "bytes of a request's target, scheme and host included") \
    X(VD_HTTP_CHUNK_EXT_LEN_MAX, 1024,        "bytes of all chunk extensions of one request body together") \
    X(VD_HTTP_TRAILER_LEN_MAX,   8192,        "bytes of the trailer after a chunked request body") \
    X(VD_HTTP_HANDSHAKE_MS,      10000,       "milliseconds for a TLS handshake") \
    X(VD_HTTP_HEAD_MS,           10000,       "milliseconds from a request's first byte to the end of its head; then 408") \
    X(VD_HTTP_BODY_MS,           60000,       "milliseconds for the rest of a request; then 408") \
    X(VD_HTTP_IDLE_MS,           180000,      "milliseconds that a connection may wait for its next request") \
    X(VD_HTTP_SEND_MS,           30000,       "milliseconds in which a client must take some bytes of a complete answer, or of a stream while too many bytes wait for its user") \
    X(VD_HTTP_LINGER_MS,         2000,        "milliseconds that a client has for closing after the last answer, and for sending the rest of an HTTP/2 request that was answered before its end") \
    X(VD_HTTP_AHEAD_LEN_MAX,     65536,       "bytes of later requests that are read while one is answered") \
    X(VD_HTTP_AHEAD_OUTPUT_MAX,  262144,      "bytes waiting to be sent on a connection above which its next request waits") \
    X(VD_HTTP_STRANGER_OUTPUT_MAX, 4096,      "bytes waiting to be sent on a connection without an authenticated user above which its next request waits") \
    X(VD_HTTP_TURN_REQUESTS_MAX, 64,          "requests of one connection that one turn of a loop takes") \
    X(VD_HTTP_TURN_SEND_MAX,     1048576,     "bytes, about, that one turn of a loop sends on one connection") \
    X(VD_HTTP2_STREAMS_DEFAULT,  250,         "requests and watches at a time on one HTTP/2 connection") \
    X(VD_HTTP2_TABLE_LEN_MAX,    4096,        "bytes of an HTTP/2 connection's table of headers, in each direction") \
    X(VD_HTTP2_UPLOAD_LEN_MAX,   8388608,     "bytes of request bodies of one HTTP/2 connection above which the bodies arrive one after the other") \
    X(VD_HTTP2_ANSWERS_LEN_MAX,  8388608,     "bytes of complete answers waiting for an HTTP/2 client above which its next requests wait") \
    X(VD_HTTP2_OUTPUT_LEN_MAX,   131072,      "bytes, about, of an HTTP/2 connection that are made ready for its socket at a time") \
    X(VD_HTTP2_QUEUE_FRAMES_MAX, 2048,        "frames waiting for an HTTP/2 connection's socket above which the connection is not read from") \
    X(VD_HTTP2_NUISANCES_MAX,    500,         "resets, pings, settings and the like that an HTTP/2 client may send at once; then GOAWAY") \
    X(VD_HTTP2_NUISANCES_PER_S,  100,         "resets, pings, settings and the like that an HTTP/2 client may send per second in the long run; then GOAWAY") \
    X(VD_HTTP2_NOTICE_MS,        1000,        "milliseconds between the two GOAWAYs of a connection that ends, when the client does not answer") \
    X(VD_HTTP_TURN_HANDSHAKES_MAX, 2,         "steps of TLS handshakes that one turn of a loop takes; a step costs as much as many requests") \
    X(VD_HTTP_STRANGERS_MAX,     16384,       "connections without an authenticated user; one more ends the oldest") \
    X(VD_HTTP_STRANGERS_LEN_MAX, 67108864,    "bytes of requests whose senders are not authenticated yet; a request that goes beyond is 503") \
    X(VD_HTTP_BODY_FREE_LEN,     16384,       "bytes of a request up to which no memory is reserved for it if it comes in one piece") \
    X(VD_HTTP_BODY_BUFFER_LEN,   262144,      "bytes of a streamed request body that are kept until they are taken, at most; they are reserved of limits.body-bytes") \
    X(VD_HTTP_BODY_IDLE_MS,      60000,       "milliseconds in which a byte of a streamed request body must come while the server reads it; then 408") \
    X(VD_PROCESS_BACKLOG_MAX,    262144,      "bytes waiting for a program's stdin above which no more is read for it; reserved with a streamed request body") \
    X(VD_PROCESS_LINGER_MS,      1000,        "milliseconds that a program's output may stay open after its end, that a program has for ending when nobody waits for it, and that a loop which stops waits for its programs") \
    X(VD_EXEC_LINE_LEN_MAX,      8388608,     "bytes of a line that a program which reconciles may say") \
    X(VD_EXEC_HELLO_MS,          10000,       "milliseconds that such a program has for its hello") \
    X(VD_EXEC_CANCEL_MS,         2000,        "milliseconds that it has for the answer to a run that was cancelled; then it is killed") \
    X(VD_EXEC_RESTART_MS_MIN,    100,         "milliseconds before it is started again after it has ended; the pause doubles ...") \
    X(VD_EXEC_RESTART_MS_MAX,    30000,       "... up to this, until it has answered a run") \
    X(VD_TCP_UNSENT_LEN_MAX,     131072,      "bytes that the kernel keeps for a connection before it has sent them") \
    X(VD_ACCOUNTS_MAX,           10000,       "users whose use is counted one by one; more share one account") \
    X(VD_ACCOUNT_METRICS_MAX,    100,         "users with metrics of their own; more are counted as 'other'") \
    X(VD_USER_REQUESTS_DEFAULT,  400,         "requests of one user in flight; one more is 429") \
    X(VD_USER_WATCHES_DEFAULT,   10000,       "open watches of one user; one more is 429") \
    X(VD_USER_QUEUED_BYTES_DEFAULT, 67108864, "bytes waiting for one user; beyond, the user's watches that do not read are parked and lists are 429; at twice as much nothing is queued for the user and all requests are 429") \
    X(VD_USER_BODY_BYTES_DEFAULT, 67108864,   "bytes of requests with bodies that one user sends or waits for; one more is 429") \
    X(VD_REQUESTS_DEFAULT,       4000,        "requests in flight of all users; a quarter is reserved for the system and administrators") \
    X(VD_WATCHES_DEFAULT,        100000,      "open watches of all users; a quarter is reserved for the system and administrators") \
    X(VD_QUEUED_BYTES_DEFAULT,   536870912,   "bytes waiting for all users; beyond, users with more than a sixteenth of it are treated as over their own limit; at a quarter more nothing is queued for ordinary users, at half more for anybody") \
    X(VD_BODY_BYTES_DEFAULT,     268435456,   "bytes of requests with bodies of all users; a quarter is reserved for the system and administrators") \
    X(VD_GATHERED_LEN_MAX,       8388608,     "bytes, about, of a page of a list, after which the next page begins, and of a list in an encoding that needs it whole") \
    X(VD_GZIP_BODY_LEN_MIN,      131072,      "bytes from which on an answer is compressed, where the client allows it (as in Kubernetes)") \
    X(VD_VERSION_WAIT_MS,        3000,        "milliseconds that a read waits for a resourceVersion that does not exist yet; then 504 (as in Kubernetes)") \
    X(VD_CLEARED_BYTES_MAX,      4194304,     "bytes of objects that the answer to a deletecollection lists; a larger answer tells only their number") \
    X(VD_TCP_KEEPALIVE_S,        60,          "seconds of silence before a connection is probed, 4 times in 15 s steps") \
    X(VD_TCP_USER_TIMEOUT_MS,    120000,      "milliseconds in which the peer's kernel must take what was sent") \
    X(VD_LISTENER_PAUSE_MS,      100,         "milliseconds without accepting connections when file descriptors have run out") \
    X(VD_URL_SEGMENTS_MAX,       64,          "segments of a path") \
    X(VD_URL_PARAMS_MAX,         256,         "parameters of a query") \
    X(VD_ACCEPT_RANGES_MAX,      32,          "media ranges of a request's Accept headers") \
    X(VD_PROTOBUF_VALUES_MAX,    1000000,     "values of a document that is made from a protobuf body") \
    X(VD_PROTOBUF_UNKNOWN_MAX,   100,         "unknown fields of a protobuf body that are reported; more are only counted") \
    X(VD_FIELD_MANAGER_LEN_MAX,  128,         "bytes of a field manager's name; a user agent's is cut") \
    X(VD_MANAGED_ENTRIES_MAX,    1000,        "entries of a managedFields list that a client sends; a longer one is ignored") \
    X(VD_ANNOTATIONS_LEN_MAX,    262144,      "bytes of an object's annotations, keys and values (as in Kubernetes)") \
    X(VD_CONFIG_DATA_LEN_MAX,    1048576,     "bytes of a ConfigMap's or Secret's data (as in Kubernetes)") \
    X(VD_FIELD_PATH_LEN_MAX,     1024,        "bytes of a field's path in a message; a longer one loses its beginning") \
    X(VD_VIOLATIONS_MAX,         500,         "violations that are named of one object; more are counted") \
    X(VD_VIOLATION_VALUE_LEN_MAX, 4096,       "bytes of a value that a violation shows, and of its message; the rest is cut") \
    X(VD_REFERENCE_FIELDS_MAX,   32,          "fields of a kind that refer to other objects") \
    X(VD_REFERENCE_PATH_LEN_MAX, 256,         "bytes of the path of such a field") \
    X(VD_REFERENCES_MAX,         10000,       "references that are read of one object") \
    X(VD_PRUNED_PATHS_MAX,       100,         "unknown fields that are named of one object") \
    X(VD_DEFINITION_VERSIONS_MAX, 64,         "versions of a CustomResourceDefinition") \
    X(VD_DEFINITION_PATTERNS_SIZE_MAX, 2097152, "instructions to which all patterns of a CustomResourceDefinition compile, those of its rules included; a small pattern counts 256") \
    X(VD_DEFINITION_RULES_MAX,   10000,       "rules (x-kubernetes-validations) of a CustomResourceDefinition") \
    X(VD_DEFAULTS_LEN_MAX,       3145728,     "bytes that the defaults of a definition may add to one object; a definition that adds more to an empty object is refused") \
    X(VD_DEFAULTS_TURN_LEN_MAX,  131072,      "bytes that defaults may add to one object inside one turn of an event loop; a worker thread fills in what takes more") \
    X(VD_DEFAULTS_FRAME_LEN_MAX, 67108864,    "bytes that defaults may add to the events that a watch is sent at a time; events that need more end the watch with an error") \
    X(VD_CHECK_WORK_MAX,         536870912,   "instructions of patterns times bytes of text that the check of one object may take; an instruction that is compiled counts 64") \
    X(VD_CHECK_TURN_WORK_MAX,    4194304,     "instructions of patterns times bytes of text that a check may take inside one turn of an event loop; a worker thread does a check that takes more or has to compile") \
    X(VD_TURN_OBJECT_LEN_MAX,    131072,      "bytes of a request or a stored object above which a worker thread makes, checks or converts the object, and not an event loop") \
    X(VD_WORK_USER_MAX,          2,           "checks of one user that the workers do at a time, for each event loop, fewer where there are several loops; more wait") \
    X(VD_WORK_LOOP_MAX,          4,           "checks of all users that the workers do at a time, shared by the loops; more wait") \
    X(VD_LIST_KEYS_MAX,          64,          "names in x-kubernetes-list-map-keys of a definition's schema") \
    X(VD_LOG_AGENT_LEN_MAX,      256,         "bytes of a client's User-Agent that the access log shows") \
    X(VD_CONVERSION_OBJECTS_MAX, 128,         "objects that a conversion webhook is sent at a time") \
    X(VD_CONVERSION_REQUEST_LEN_MAX, 1048576, "bytes of objects that a conversion webhook is sent at a time; a longer object goes alone") \
    X(VD_CONVERSION_ANSWER_LEN_MAX, 8388608,  "bytes of a conversion webhook's answer") \
    X(VD_CONVERSION_TIMEOUT_MS,  30000,       "milliseconds for a conversion webhook's answer, and for the wait before a call is sent (as in Kubernetes)") \
    X(VD_CONVERSION_HOOK_CALLS_MAX, 4,        "calls of one definition's conversion webhook at a time; more wait") \
    X(VD_CONVERSION_CALLS_MAX,   8,           "calls of all conversion webhooks at a time; more wait") \
    X(VD_CONVERSION_CACHE_LEN_MAX, 16777216,  "bytes of converted objects that are kept for the next who wants them") \
    X(VD_CONVERSION_HOOKS_MAX,   256,         "definitions whose webhook's authorities are kept ready for the next call") \
    X(VD_GIT_PROCESSES_MAX,      32,          "git processes that serve clones, fetches and pushes at a time; more requests wait") \
    X(VD_GIT_USER_PROCESSES_MAX, 16,          "of those, the ones of one user") \
    X(VD_GIT_WAITING_MAX,        512,         "requests that wait for a git process; one more is 503") \
    X(VD_GIT_USER_WAITING_MAX,   128,         "of those, the ones of one user") \
    X(VD_GIT_WAIT_MS,            60000,       "milliseconds that a request waits for a git process; then 503") \
    X(VD_GIT_READY_MS,           5000,        "milliseconds that a request waits for a repository that was just created; then 503") \
    X(VD_GIT_TIMEOUT_MS,         3600000,     "milliseconds that one git process may run") \
    X(VD_GIT_IDLE_MS,            120000,      "milliseconds in which a git process has to read or write something") \
    X(VD_GIT_CPU_S,              1800,        "seconds of CPU time of a git process") \
    X(VD_GIT_UNPACK_MS,          60000,       "milliseconds that git may take to unpack and check what was pushed, when all of it has come ...") \
    X(VD_GIT_UNPACK_MS_PER_MIB,  2000,        "... and these for each MiB of it") \
    X(VD_GIT_MEMORY_MIB,         2048,        "MiB of address space of a git process") \
    X(VD_GIT_FILES_OPEN_MAX,     256,         "files that a git process may have open") \
    X(VD_GIT_BACKLOG_LEN_MAX,    262144,      "bytes that wait for the client or for git, in each direction of a transfer; the other side then waits") \
    X(VD_GIT_DISCARD_LEN_MAX,    67108864,    "bytes of a push over HTTP/2 that are read and dropped when git has refused it before its end") \
    X(VD_GIT_STDERR_LEN_MAX,     4096,        "bytes of what a git process says on stderr that the log shows") \
    X(VD_GIT_PACK_LEN_DEFAULT,   1073741824,  "bytes of a push, unless the Repository says otherwise") \
    X(VD_GIT_FILE_LEN_DEFAULT,   10485760,    "bytes of a file with manifests in a push, unless the Repository says otherwise, and for vedette lint") \
    X(VD_GIT_FILES_DEFAULT,      20000,       "manifests that one push changes, unless the Repository says otherwise") \
    X(VD_BRANCH_LEN_MAX,         200,         "bytes of the name of a branch whose commits become objects") \
    X(VD_LOG_LINE_MAX,           8192,        "bytes of a log line; a longer one is cut") \
    X(VD_LOG_QUEUE_MAX,          4096,        "log lines waiting to be written; more are dropped and counted") \
    X(VD_LOG_REFUSALS_PER_S,     10,          "requests answered with 401 or 429 that each loop logs in a second; more are counted") \
    X(VD_METRIC_LABELS_MAX,      6,           "labels of a metric") \
    X(VD_METRIC_LABEL_LEN_MAX,   128,         "bytes of a label value; a longer one is cut") \
    X(VD_METRIC_CHILDREN_MAX,    1000,        "label combinations of a metric; more are counted as 'other'") \
    X(VD_METRIC_BOUNDS_MAX,      24,          "printed buckets of a histogram") \
    X(VD_USER_NAME_LEN_MAX,      1024,        "bytes of a user's or a group's name") \
    X(VD_USER_GROUPS_MAX,        1024,        "groups of a user") \
    X(VD_USER_CACHE_MAX,         1024,        "bearer tokens that each loop remembers having verified") \
    X(VD_USER_CACHE_MS,          10000,       "milliseconds for which a loop remembers a verified bearer token, unless tokens, the account or what the token is bound to change before") \
    X(VD_TOKENS_MAX,             100000,      "bearer tokens of a data folder") \
    X(VD_TOKEN_FILE_LEN_MAX,     268435456,   "bytes of the file that keeps the hashes of bearer tokens") \
    X(VD_JWT_LEN_MAX,            16384,       "bytes of a JSON web token") \
    X(VD_JWT_DEPTH_MAX,          16,          "nesting of a JSON web token's claims") \
    X(VD_JWT_AUDIENCES_MAX,      64,          "audiences of a JSON web token") \
    X(VD_JWKS_LEN_MAX,           1048576,     "bytes of a JWK set, and of an issuer's discovery document") \
    X(VD_JWKS_KEYS_MAX,          100,         "keys of a JWK set") \
    X(VD_JWKS_REFRESH_MS,        300000,      "milliseconds after which an issuer's keys are fetched again") \
    X(VD_JWKS_RETRY_MS,          10000,       "milliseconds after which a failed fetch of an issuer's keys is tried again") \
    X(VD_JWKS_ASK_MS,            2000,        "milliseconds, at least, between two fetches of an issuer's keys, however many tokens name unknown keys") \
    X(VD_JWKS_TIMEOUT_MS,        10000,       "milliseconds that one answer of an issuer may take") \
    X(VD_ISSUERS_MAX,            64,          "issuers of JSON web tokens (as in Kubernetes)") \
    X(VD_MANIFEST_LEN_MAX,       1048576,     "bytes of an audit policy or a file of issuers") \
    X(VD_AUDIT_QUEUE_LEN_MAX,    16777216,    "bytes of audit events waiting to be written; more are dropped and counted") \
    X(VD_AUDIT_CLOSE_MS,         2000,        "milliseconds that a stopping server waits for an audit log that takes no bytes") \
    X(VD_AUDIT_ID_LEN_MAX,       64,          "bytes of a client's own Audit-ID; a longer one is not used") \
    X(VD_PEM_LEN_MAX,            1048576,     "bytes of a file with keys or certificates") \
    X(VD_GRANT_RIGHTS_MAX,       16384,       "single rights (group x resource x verb x name) of a role that is checked for escalation") \
    X(VD_HOOK_MESSAGE_LEN_MAX,   65536,       "bytes of one message between a git hook and the server") \
    X(VD_HOOK_WAIT_MS,           600000,      "milliseconds that a git hook waits for the next byte of git or of the server; then the push is refused") \
    X(VD_PUSH_REFS_MAX,          10000,       "refs of one git push") \
    X(VD_PUSH_OPTIONS_MAX,       64,          "push options of one git push that the server is told of") \
    X(VD_PUSH_COMMANDS_LEN_MAX,  4194304,     "bytes of the names of all refs and objects that one git push is about") \
    X(VD_PUSH_MANIFESTS_LEN_MAX, 134217728,   "bytes of the manifests that one git push changes, old and new ones") \
    X(VD_PUSH_MEMORY_MAX,        268435456,   "bytes of memory, about, that the manifests of one git push may take when they are parsed") \
    X(VD_PUSHES_MEMORY_MAX,      536870912,   "bytes of memory for the parsed manifests of all git pushes at a time; a push that goes beyond is refused and may be tried again") \
    X(VD_PUSHES_MAX,             64,          "git pushes that are validated or admitted at a time; one more is refused and may be tried again") \
    X(VD_PUSH_GIT_MS,            120000,      "milliseconds that one run of git for the validation of a push may take") \
    X(VD_GIT_PATH_LEN_MAX,       4096,        "bytes of a file's path in a git repository") \
    X(VD_GIT_FILE_DOCUMENTS_MAX, 10000,       "documents of one file of a repository, items of lists included") \
    X(VD_GIT_FILE_MEMORY_MAX,    67108864,    "bytes of memory that the documents of one file of a repository may take, with their aliases expanded; one document more may be begun") \
    X(VD_GIT_FINDINGS_MAX,       1000,        "errors that a report about a repository's files names, and warnings; more are counted") \
    X(VD_GIT_REPORT_LEN_MAX,     1048576,     "bytes of the errors of a report about a repository's files, and of the warnings; more are counted") \
    X(VD_GIT_REASON_LEN_MAX,     2048,        "bytes of the reason of one error in such a report; a longer one is cut") \
    X(VD_GIT_CONFIG_LEN_MAX,     65536,       "bytes of a repository's .vedette.yaml") \
    X(VD_GIT_PATTERNS_MAX,       64,          "patterns in paths, and in exclude, of a repository's .vedette.yaml") \
    X(VD_GIT_LABELS_MAX,         64,          "labels that a repository's .vedette.yaml gives to its objects") \
    X(VD_GIT_DRIFT_MAX,          100,         "overridden objects that the status of a Repository names; all are counted") \
    X(VD_GIT_RESET_LEN_MAX,      256,         "bytes of the annotation vedette.dev/reset that count") \
    X(VD_GIT_STATUS_ERROR_LEN_MAX, 2048,      "bytes of status.lastError of a Repository; a longer text is cut") \
    X(VD_GIT_RETRY_MS_MIN,       1000,        "milliseconds before a fetch or a reset that has failed is tried again; they double from failure to failure ...") \
    X(VD_GIT_RETRY_MS_MAX,       300000,      "... up to these") \
    X(VD_GIT_FETCHES_MAX,        8,           "fetches of remote repositories at a time; others wait") \
    X(VD_GIT_NAMESPACE_FETCHES_MAX, 2,        "of those, the ones of one namespace") \
    X(VD_GIT_FETCH_SLOW_MS,      10000,       "milliseconds in which a fetch has to bring something while others wait, or it gives way to them; they double each time it has given way ...") \
    X(VD_GIT_FETCH_SLOW_MS_MAX,  60000,       "... up to these") \
    X(VD_GIT_FETCH_SPEED_MIN,    16384,       "bytes that it has to bring in each second of them") \
    X(VD_GIT_FETCH_MEMORY_MIB,   768,         "MiB of address space of a git process that fetches") \
    X(VD_GIT_FETCH_MS,           600000,      "milliseconds that a fetch of a remote repository may take") \
    X(VD_GIT_FETCH_LEN_MAX,      1073741824,  "bytes of one file that a fetch of a remote repository writes: of its pack") \
    X(VD_GIT_DISK_KEPT_LEN,      268435456,   "bytes of the disk that git leaves free for the store, or a tenth of a smaller disk: fetches and pushes that need them fail") \
    X(VD_GIT_UPKEEP_PACKS,       50,          "packs of a repository; with more, git gc is run") \
    X(VD_GIT_UPKEEP_LOOSE,       6700,        "objects outside of packs of a repository, about; with more, git gc is run") \
    X(VD_GIT_UPKEEP_AGE_MS,      86400000,    "milliseconds after which git gc is run again in a repository that has several packs or objects outside of them") \
    X(VD_GIT_UPKEEP_GRACE_S,     1209600,     "seconds that an object stays which no ref leads to any more") \
    X(VD_GIT_UPKEEP_MS,          3600000,     "milliseconds that git gc may take for a repository") \
    X(VD_GIT_UPKEEP_RETRY_MS,    3600000,     "milliseconds before git gc is run again in a repository in which it has failed") \
    X(VD_GIT_CREDENTIAL_LEN_MAX, 65536,       "bytes of each credential of a remote repository") \
    X(VD_GIT_HURRY_MS,           1000,        "milliseconds between two fetches of a repository that its webhook asks for, at least") \
    X(VD_GIT_WEBHOOK_LEN_MAX,    1048576,     "bytes of a call of a repository's webhook") \
    X(VD_GIT_WEBHOOKS_PER_S,     50,          "calls of all webhooks that are accepted in a second; more are 429") \
    X(VD_GIT_WEBHOOK_REFUSED_LEN, 16777216,   "bytes of refused calls of webhooks from one address in a second; further calls from there that are longer than ...") \
    X(VD_GIT_WEBHOOK_SHORT_LEN,  65536,       "... these are 429") \
    X(VD_GIT_WEBHOOK_WINDOW_MS,  600000,      "milliseconds in which the same call of a webhook is refused as a replay") \
    X(VD_GIT_WEBHOOKS_KEPT,      4096,        "calls of webhooks that are remembered for that") \
    X(VD_PATH_PATTERN_LEN_MAX,   255,         "bytes of a pattern of paths or branches")
/* clang-format on */

enum vd_limits {
#define VD_LIMIT_ENUM(name, value, what) name = value,
    VD_LIMITS(VD_LIMIT_ENUM)
#undef VD_LIMIT_ENUM
};

#endif
