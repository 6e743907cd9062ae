package rules

// Mapping is one of the five mapping rules, for people.
type Mapping struct{ ID, Name, Says, Else string }

// Mappings are the mapping rules, in the order in which they are applied.
var Mappings = []Mapping{
	{"MR1", "entities and relationships", "Entity and relationship types map to tables, their instances to rows or partitions, their attributes to columns.", "the model is not stored whole"},
	{"MR2", "equality search attributes", "What is compared for equality is the front of the primary key, and every column of the partition key is given.", "the query can not be asked"},
	{"MR3", "inequality search attributes", "What is compared by order is a clustering column after all that is compared for equality; one can be. Without equality, a bucket is made up.", "the range can not be asked for"},
	{"MR4", "ordering attributes", "What the answer is sorted by are clustering columns, ascending or descending. The whole reverse is legal, and slightly slower.", "rows come in another order"},
	{"MR5", "key attributes", "The primary key has the whole key of what a row stands for, at any place.", "rows overwrite each other: data is lost"},
}

// Classes say what the classes of access mean, in their order.
var Classes = []struct {
	Access      Access
	Says, Judge string
}{
	{Partition, "one partition, of one row or many", "ideal"},
	{Partitions, "several partitions of a table: those of a list, of buckets, or those that an index names", "acceptable"},
	{TableScan, "all partitions of a table", "anti-pattern"},
	{MultiTable, "several tables, one after the other", "anti-pattern"},
	{None, "no rows of a table that is known", "-"},
}
