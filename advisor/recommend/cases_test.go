package recommend_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// TestCase12: posts.user_id holds the key of users, which is called id. Whatever is said of posts names the column that it has.
func TestCase12(t *testing.T) {
	posts := infertest.Table("blog", "posts", "post_id uuid", "", "user_id uuid", "title text")
	posts.Indexes = []schema.Index{{Name: "posts_by_user", Kind: "COMPOSITES", Column: "user_id", On: "values"}}
	for _, nodes := range []int{1, 60} { // the index is kept, or a look-up takes its place
		traffic := &infertest.Traffic{Keyspace: "blog", Seconds: 300}
		user := traffic.Say("SELECT id, name FROM users WHERE id = ?", 2_000, 500, 1)
		byUser := traffic.Say("SELECT post_id, title FROM posts WHERE user_id = ?", 2_000, uint64(2_000+100*nodes), 6)
		traffic.Say("INSERT INTO posts (post_id, user_id, title) VALUES (?, ?, ?)", 50, 600, 0)
		traffic.Feed(user, "users", "id", byUser, "posts", "user_id",
			feed.Feed{Executions: 900, Hits: 900, Producers: 900, Followed: 0.45, PerExecution: 1, LagP50: 300, LagP99: 2_000, Shape: feed.Single, Confidence: 0.99})
		in := hotel(nodes)
		in.Snapshot = traffic.Snapshot()
		in.Schema = &schema.Schema{Keyspaces: []schema.Keyspace{{
			Name: "blog", Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
			Tables: []schema.Table{posts, infertest.Table("blog", "users", "id uuid", "", "name text")},
		}}}
		in.Statistics = []schema.Stats{
			infertest.Measured("blog", "posts", 12_000, 12_000, "post_id 12000 16", "user_id 2000 16", "title 11000 20"),
			infertest.Measured("blog", "users", 2_000, 2_000, "id 2000 16", "name 1900 9"),
		}
		a := advise(t, in)
		var page bytes.Buffer
		about := 0
		for _, r := range a.Recommendations {
			if r.Kind != recommend.ApplicationChange && r.Table == "posts" {
				about++
				if r.Column != "user_id" {
					t.Errorf("%s is about %s", r.Title, r.Column)
				}
			}
			if err := recommend.Explain(&page, r); err != nil {
				t.Fatal(err)
			}
		}
		if about != 1 {
			t.Fatalf("%d recommendations on posts: %+v; %+v", about, a.Recommendations, a.Dismissed)
		}
		form, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(page.String()), " ") + string(form)
		for _, wrong := range []string{"secondary index on id", "get posts by id", "read posts by its secondary index on id", "blog.posts.id"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%d nodes: %q is said, and posts has no column id", nodes, wrong)
			}
		}
		if !strings.Contains(text, "read posts by its secondary index on user_id = ?") || !strings.Contains(text, `"blog.posts.user_id"`) {
			t.Errorf("%d nodes: user_id is not named:\n%s", nodes, page.String())
		}
	}
}
