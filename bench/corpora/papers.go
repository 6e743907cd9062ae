package main

import "time"

// papers are versions of documents in folders, with all names in one hand's notation (tbldocument.uidowner); what was deleted is only marked; lists by the state of a
// document; shares with people or links; comments about a version, which is a document and a number.
var papers = application{
	name: "papers",
	model: `
Person 900 *uidperson:uuid strmail:text strname:text
Folder 700 *uidfolder:uuid strtitle:text owner->Person.folders up->Folder.sub@owner?0.4
Document 3000 *uiddocument:uuid strtitle:text strstate:text/4 blndeleted:boolean/2 dtmtouched:timestamp folder->Folder.documents owner->Person.documents
Version 8000 *document->Document.versions *intversion:int@document strbody:text dtmsaved:timestamp author->Person.versions
Remark 5000 *uidremark:timeuuid strtext:text version->Version.remarks author->Person.remarks
Share 3000 *document->Document.shares *guest->Person.shared strright:text/3
Link 1200 *strtoken:text dtmexpires:timestamp document->Document.links
Label 200 *strlabel:text intcolour:int/12
Tagging 5000 *document->Document.labels *label->Label.documents`,
	normal: `
tblperson(Person): uidperson | | strmail strname
idxpersonmail(Person): strmail | | uidperson
tblfolder(Folder): uidfolder | | strtitle uidowner=owner uidparent=up
tblfolderdocuments(Document): uidfolder=folder | uiddocument | strtitle strstate blndeleted
tbldocument(Document): uiddocument | | strtitle strstate blndeleted dtmtouched uidfolder=folder uidowner=owner
lstdocumentstate(Document): strstate uidowner=owner | -dtmtouched uiddocument | strtitle
tblversion(Version): uiddocument=document | -intversion | strbody dtmsaved uidauthor=author
tblremark(Remark): uiddocument=version.document intversion=version.intversion | -uidremark | strtext uidauthor=author
tblshare(Share): uiddocument=document | uidguest=guest | strright
tblsharedwith(Share): uidguest=guest | uiddocument=document | strright
tbllink(Link): strtoken | | dtmexpires uiddocument=document
tbllabel(Label): strlabel | | intcolour
tbldocumentlabel(Tagging): uiddocument=document | strlabel=label
tbllabeldocument(Tagging): strlabel=label | uiddocument=document`,
	grown: func(s *site) []chore {
		const web, sync = 1, 2
		person := func(c *client, f *frame) {
			if !c.cached("person", f, 300*time.Millisecond) {
				c.get("tblperson", f, "strmail strname")
			}
		}
		document := func(c *client, f *frame) *frame { return c.get("tbldocument", f, "*") }
		return []chore{
			s.call(18, web, func(c *client) {
				f := document(c, c.any("Document"))
				person(c, f.to("owner"))
				for _, v := range c.list("tblversion", f, "document", "intversion dtmsaved author limit 4") {
					person(c, v.to("author"))
					if c.chance(0.4) {
						for _, x := range c.list("tblremark", v, "version", "uidremark strtext author limit 6") {
							person(c, x.to("author"))
						}
					}
				}
			}),
			s.call(12, web, func(c *client) {
				f := c.get("tblfolder", c.any("Folder"), "*")
				if up := f.to("up"); up != nil {
					c.get("tblfolder", up, "strtitle")
				}
				for _, x := range c.list("tblfolderdocuments", f, "folder", "uiddocument strtitle blndeleted limit 12") {
					if c.chance(0.2) {
						c.list("tblversion", x, "document", "intversion strbody limit 1")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("tbllink", c.any("Link"), "*")
				document(c, f.to("document"))
			}),
			s.call(8, web, func(c *client) {
				f := c.get("idxpersonmail", c.any("Person"), "uidperson")
				f = c.get("tblperson", f, "*")
				together(c, c.list("tblsharedwith", f, "guest", "document strright limit 10"), func(c *client, x *frame) { document(c, x.to("document")) })
			}),
			s.call(6, web, func(c *client) {
				c.list("lstdocumentstate", c.any("Person"), "owner", "uiddocument strtitle limit 15")
			}),
			s.call(6, web, func(c *client) {
				f := c.get("tbllabel", c.any("Label"), "*")
				for _, x := range c.list("tbllabeldocument", f, "label", "document limit 8") {
					document(c, x.to("document"))
				}
			}),
			s.call(6, sync, func(c *client) {
				f := document(c, c.any("Document"))
				c.list("tblshare", f, "document", "guest strright")
				c.list("tbldocumentlabel", f, "document", "label")
			}),
			s.call(8, web, func(c *client) {
				f := document(c, c.any("Document"))
				c.make("Version", false, "tblversion", map[string]*frame{"document": f, "author": c.any("Person")})
				c.set(f, "strtitle", true, "tbldocument tblfolderdocuments")
			}),
			s.call(3, web, func(c *client) {
				c.make("Document", false, "tbldocument tblfolderdocuments lstdocumentstate", map[string]*frame{"owner": c.any("Person")})
			}),
			s.call(3, web, func(c *client) { c.set(c.any("Document"), "blndeleted", false, "tbldocument tblfolderdocuments") }),
			s.call(3, web, func(c *client) { c.make("Remark", false, "tblremark", nil) }),
			s.call(2, web, func(c *client) { c.make("Share", true, "tblshare tblsharedwith", nil) }),
			s.call(2, sync, func(c *client) { c.make("Tagging", true, "tbldocumentlabel tbllabeldocument", nil) }),
		}
	},
}
