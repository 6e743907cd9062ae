// Package commitlog reads the keys of what was written from Cassandra's commit log, of releases 4.0 to 5.0 (versions 7 and 8 of its
// format), where it lies in cdc_raw: which table, which partition, which row, which columns, and never a value. It imports nothing of
// Helenus.
//
// # A segment
//
// CommitLog-VERSION-ID.log begins with a header: version, id, parameters as JSON (compression, encryption), and their CRC. Sections follow.
// Each begins with a marker: where the next one begins, and a CRC of the segment's id and the marker's own place. A section holds entries:
//
//	size (4)  CRC of size (4)  mutation (size)  CRC of size and mutation (4)
//
// until its end or a size of 0. A compressed one holds the length of its entries, and these as one block. [Segment.Read] goes from one marker to
// the next, as far as it is told that the file is durable: CommitLog-VERSION-ID_cdc.idx says so ([ParseIndex]).
//
// # A mutation
//
// A mutation is some updates, each of a partition of one table: its id, the partition key, what columns there are, by name, and then
// rows and ends of deleted ranges. How long something is depends on its type, so [Decode] needs the tables (type [Table]): of a table that
// it does not know it can not even tell where its update ends. So it says of each update what it can: rows; that the partition was written but the rows can not
// be read (Kind [Unread]); and by an error that further updates of the mutation can not be read.
//
// # Where it is thin
//
// Encrypted segments are not read ([ErrEncrypted]). TRUNCATE is not in the commit log. Tables of columns whose type is a class of somebody's
// own are Unread when such a column is written.
package commitlog
