package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Classes by teacher are classes, though they have the title of the course besides: by their name, and as there are as many. Of more or fewer rows that is not known, nor
// where a column of the primary key is none of the class.
func TestCopiesByNameWithMore(t *testing.T) {
	for _, c := range []struct {
		what, partition, clustering string
		rows                        float64
		want                        string
	}{
		{"as many", "teacher_id int", "course_id int, class_no int", 500, "class+class_by_teacher"},
		{"more", "teacher_id int", "course_id int, class_no int", 900, "class class_by_teacher"},
		{"fewer", "teacher_id int", "course_id int, class_no int", 300, "class class_by_teacher"},
		{"another column", "teacher_id int", "course_id int, class_no int, colour text", 500, "class class_by_teacher"},
		{"a part of the key", "teacher_id int", "course_id int", 500, "class class_by_teacher"},
	} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "class", "course_id int", "class_no int", "teacher_id int", "room text"),
			infertest.Table("ks", "class_by_teacher", c.partition, c.clustering, "course_title text")),
			[]schema.Stats{
				infertest.Measured("ks", "class", 500, 120, "course_id 120 4", "class_no 9 4", "teacher_id 90 4", "room 60 9"),
				infertest.Measured("ks", "class_by_teacher", c.rows, 90, "teacher_id 90 4", "course_id 120 4", "class_no 9 4", "colour 400 9", "course_title 118 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// So are reviews by user, whose key of its own is called id and is a number, which says nothing.
func TestCopiesByNameOfOneKey(t *testing.T) {
	for _, c := range []struct {
		rows float64
		want string
	}{{500, "review+review_by_user"}, {900, "review review_by_user"}} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "review", "product_id bigint", "id bigint", "user_id bigint", "stars int"),
			infertest.Table("ks", "review_by_user", "user_id bigint", "id bigint", "product_id bigint", "stars int", "product_name text")),
			[]schema.Stats{
				infertest.Measured("ks", "review", 500, 120, "product_id 120 8", "id 500 8", "user_id 200 8", "stars 5 4"),
				infertest.Measured("ks", "review_by_user", c.rows, 90, "user_id 200 8", fmt.Sprintf("id %.0f 8", c.rows), "product_id 120 8", "stars 5 4", "product_name 118 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%.0f rows: %s, want %s", c.rows, got, c.want)
		}
	}
}

// Roles of users have role_id for their key, too, and are read by user; what leads to roles makes these no roles of users.
func TestWhatIsReadIsNoCopyByItsName(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	list := traffic.Say("SELECT role_id FROM user_roles_by_user WHERE user_id = ?", 1000, 900, 5)
	one := traffic.Say("SELECT role FROM user_roles WHERE role_id = ?", 1000, 900, 1)
	role := traffic.Say("SELECT label FROM roles WHERE role_id = ?", 1000, 900, 1)
	traffic.Feed(list, "user_roles_by_user", "role_id", one, "user_roles", "role_id", all(0, feed.NPlusOne))
	traffic.Feed(one, "user_roles", "role", role, "roles", "role_id", all(0, feed.NPlusOne))
	m, err := infer.Infer(traffic.Snapshot(), single("ks",
		infertest.Table("ks", "user_roles", "role_id uuid", "", "user_id uuid", "role uuid", "granted timestamp"),
		infertest.Table("ks", "user_roles_by_user", "user_id uuid", "role_id uuid"),
		infertest.Table("ks", "roles", "role_id uuid", "", "label text")),
		[]schema.Stats{
			infertest.Measured("ks", "user_roles", 4000, 4000, "role_id 4000 16", "user_id 1800 16", "role 30 16", "granted 4000 8"),
			infertest.Measured("ks", "user_roles_by_user", 4000, 1800, "user_id 1800 16", "role_id 4000 16"),
			infertest.Measured("ks", "roles", 30, 30, "role_id 30 16", "label 30 9"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := held(m); got != "roles user_roles+user_roles_by_user" {
		t.Errorf("%s", got)
	}
}

// Plurals of other languages are understood where they add to the singular, and what a table is arranged by where its name says so in them; a number is an identifier in German, too.
func TestNamesInOtherLanguages(t *testing.T) {
	for _, c := range []struct{ table, by, column, entity string }{
		{"adresses", "adresses_par_client", "adresse_id", "Adress"}, //nolint:misspell // French
		{"direcciones", "direcciones_por_cliente", "direccion_id", "Direccione"}, {"kunden", "kunden_nach_ort", "kunde_nr", "Kunden"},
	} {
		place := strings.Split(c.by, "_")[2]
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", c.table, "id uuid", "", "name text", place+" text"), infertest.Table("ks", c.by, place+" text", c.column+" uuid", "name text"),
			infertest.Table("ks", "visite", "numero int", "", c.column+" uuid")),
			[]schema.Stats{
				infertest.Measured("ks", c.table, 900, 900, "id 900 16", "name 890 9", place+" 80 9"), infertest.Measured("ks", c.by, 900, 80, place+" 80 9", c.column+" 900 16", "name 890 9"),
				infertest.Measured("ks", "visite", 3000, 3000, "numero 3000 4", c.column+" 600 16"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); held(m) != c.table+"+"+c.by+" visite" || !strings.HasSuffix(got, "-> "+c.entity) {
			t.Errorf("%s: %s; %s", c.table, held(m), got)
		}
	}
}

// Pairs that are kept from both sides are one, also where each has the tenant before it, whom both ends determine.
func TestPairsOfATenant(t *testing.T) {
	rows := &infertest.Rows{Keyspace: "ks"}
	for i := range 1500 {
		n, label := i%300, i*7%100
		tenant := fmt.Sprint("tenant ", n%10)
		label += 9 - label%10 - (9 - n%10) // of the same tenant
		rows.Add("tasks", "tenant_id", tenant, "task_id", fmt.Sprint("task ", n))
		rows.Add("labels", "tenant_id", tenant, "label_id", fmt.Sprint("label ", label))
		for _, table := range []string{"task_labels", "tasks_by_label"} {
			rows.Add(table, "tenant_id", tenant, "task_id", fmt.Sprint("task ", n), "label_id", fmt.Sprint("label ", label))
		}
	}
	snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
	snapshot.Profiles = rows.Document()
	m, err := infer.Infer(snapshot, single("ks",
		infertest.Table("ks", "tasks", "tenant_id uuid, task_id uuid", "", "title text"), infertest.Table("ks", "labels", "tenant_id uuid", "label_id uuid", "name text"),
		infertest.Table("ks", "task_labels", "tenant_id uuid, task_id uuid", "label_id uuid"), infertest.Table("ks", "tasks_by_label", "tenant_id uuid, label_id uuid", "task_id uuid")),
		[]schema.Stats{
			infertest.Measured("ks", "tasks", 300, 300, "tenant_id 10 16", "task_id 300 16", "title 300 9"), infertest.Measured("ks", "labels", 100, 10, "tenant_id 10 16", "label_id 100 16", "name 90 9"),
			infertest.Measured("ks", "task_labels", 1500, 300, "tenant_id 10 16", "task_id 300 16", "label_id 100 16"),
			infertest.Measured("ks", "tasks_by_label", 1500, 100, "tenant_id 10 16", "label_id 100 16", "task_id 300 16"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := held(m); got != "labels task_labels+tasks_by_label tasks" {
		t.Errorf("%s: %v", got, m.Entities)
	}
}
