package install

// BuildRows is the statement of a page of a build's list, with its values.
func BuildRows(organizationID, buildID int64, f Filter) (string, []any) {
	s := ofBuild(organizationID, buildID, f)
	return s.page("26", "0"), s.args
}

// UserRows is that of a person's list.
func UserRows(organizationID, userID int64) (string, []any) {
	s := ofUser(organizationID, userID)
	return s.page("26", "0"), s.args
}

// PeopleRows counts the people of a build.
func PeopleRows(organizationID, buildID int64) (string, []any) {
	return people, []any{organizationID, buildID, 10}
}
